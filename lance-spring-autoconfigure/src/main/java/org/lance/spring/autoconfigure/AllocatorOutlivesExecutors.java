/*
 * Copyright 2026-present the original author or authors.
 *
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *      https://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */

package org.lance.spring.autoconfigure;

import java.util.List;

import org.apache.arrow.memory.BufferAllocator;

import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.StringUtils;

/**
 * Makes the executors depend on every allocator, so that allocators are closed after the
 * tasks that use their memory. As bean definitions know it, it also holds for an executor
 * or allocator of the user.
 */
class AllocatorOutlivesExecutors implements BeanFactoryPostProcessor {

	private static final List<String> EXECUTORS = List.of(LanceExecutorAutoConfiguration.BACKGROUND_EXECUTOR_BEAN_NAME,
			LanceExecutorAutoConfiguration.SPILL_EXECUTOR_BEAN_NAME);

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
		String[] allocators = beanFactory.getBeanNamesForType(BufferAllocator.class, true, false);
		for (String executor : EXECUTORS) {
			if (beanFactory.containsBeanDefinition(executor)) {
				BeanDefinition definition = beanFactory.getBeanDefinition(executor);
				definition.setDependsOn(StringUtils.concatenateStringArrays(definition.getDependsOn(), allocators));
			}
		}
	}

}

// Measures the replay spill of Lance's Rust library on the data of the Java benchmarks, and prints one line of JSON.
//
//   lance-spill write BATCHES DISTINCT DIRECTORY    nanoseconds to write all batches to disk
//   lance-spill replay BATCHES DISTINCT DIRECTORY   nanoseconds to read them and to sum every word of every buffer
//   lance-spill held BATCHES LIMIT_MIB DIRECTORY    bytes held while batches are made and spilled at a memory limit

use std::alloc::{GlobalAlloc, Layout, System};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use arrow::array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema};
use futures::StreamExt;
use lance_datafusion::spill::{SpillReceiver, SpillSender, create_replay_spill};

const COLUMNS: usize = 8;
const ROWS: usize = 65_536;
const WARMUPS: usize = 3;
const ITERATIONS: usize = 3;
const REPLAY_WARMUPS: usize = 20;
const REPLAYS: usize = 15;

static USED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// Counts what is allocated, so that the peak can be told. All of Lance's batch bytes are on the heap.
struct Counting;

impl Counting {
    fn added(size: usize) {
        let used = USED.fetch_add(size, Ordering::Relaxed) + size;
        PEAK.fetch_max(used, Ordering::Relaxed);
    }
}

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::added(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::added(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        USED.fetch_sub(layout.size(), Ordering::Relaxed);
        Self::added(size);
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn schema() -> Arc<Schema> {
    let field = |i: usize| {
        let kind = if i % 2 == 0 {
            DataType::Int64
        } else {
            DataType::Float64
        };
        Field::new(format!("column{i}"), kind, true)
    };
    Arc::new(Schema::new((0..COLUMNS).map(field).collect::<Vec<_>>()))
}

fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

fn batch(schema: &Arc<Schema>, seed: u64) -> Result<RecordBatch, Box<dyn Error>> {
    let mut state = seed * 2 + 1;
    let columns: Vec<ArrayRef> = (0..COLUMNS)
        .map(|i| -> ArrayRef {
            if i % 2 == 0 {
                Arc::new(
                    (0..ROWS)
                        .map(|_| next(&mut state) as i64)
                        .collect::<Int64Array>(),
                )
            } else {
                Arc::new(
                    (0..ROWS)
                        .map(|_| next(&mut state) as f64)
                        .collect::<Float64Array>(),
                )
            }
        })
        .collect();
    Ok(RecordBatch::try_new(schema.clone(), columns)?)
}

fn words(bytes: &[u8]) -> u64 {
    let mut sums = [0u64; 4];
    let mut fours = bytes.chunks_exact(32);
    for four in &mut fours {
        for (sum, word) in sums.iter_mut().zip(four.chunks_exact(8)) {
            *sum = sum.wrapping_add(u64::from_le_bytes(word.try_into().unwrap()));
        }
    }
    for word in fours.remainder().chunks_exact(8) {
        sums[0] = sums[0].wrapping_add(u64::from_le_bytes(word.try_into().unwrap()));
    }
    sums.iter().fold(0, |all, sum| all.wrapping_add(*sum))
}

fn sum(batch: &RecordBatch) -> u64 {
    let mut sum = 0u64;
    for column in batch.columns() {
        let data = column.to_data();
        if let Some(nulls) = data.nulls() {
            sum = sum.wrapping_add(words(nulls.validity()));
        }
        for buffer in data.buffers() {
            sum = sum.wrapping_add(words(buffer.as_slice()));
        }
    }
    sum
}

async fn write(
    path: &Path,
    schema: &Arc<Schema>,
    batches: &[RecordBatch],
    count: usize,
) -> Result<(SpillSender, SpillReceiver), Box<dyn Error>> {
    let (mut sender, receiver) = create_replay_spill(path.to_path_buf(), schema.clone(), 0);
    for i in 0..count {
        sender.write(batches[i % batches.len()].clone()).await?;
    }
    sender.finish().await?;
    Ok((sender, receiver))
}

async fn time_writes(path: &Path, count: usize, distinct: usize) -> Result<(), Box<dyn Error>> {
    let schema = schema();
    let batches = (0..distinct)
        .map(|i| batch(&schema, i as u64))
        .collect::<Result<Vec<_>, _>>()?;
    let mut nanos = Vec::new();
    for _ in 0..WARMUPS + ITERATIONS {
        let start = Instant::now();
        let spill = write(path, &schema, &batches, count).await?;
        nanos.push(start.elapsed().as_nanos());
        drop(spill);
        fs::remove_file(path)?;
    }
    println!("{{\"nanos\":{:?}}}", &nanos[WARMUPS..]);
    Ok(())
}

async fn time_replays(path: &Path, count: usize, distinct: usize) -> Result<(), Box<dyn Error>> {
    let schema = schema();
    let batches = (0..distinct)
        .map(|i| batch(&schema, i as u64))
        .collect::<Result<Vec<_>, _>>()?;
    let expected = (0..count).fold(0u64, |all, i| all.wrapping_add(sum(&batches[i % distinct])));
    let (_sender, receiver) = write(path, &schema, &batches, count).await?;
    let mut nanos = Vec::new();
    for _ in 0..REPLAY_WARMUPS + REPLAYS {
        let start = Instant::now();
        let mut stream = receiver.read();
        let mut total = 0u64;
        while let Some(batch) = stream.next().await {
            total = total.wrapping_add(sum(&batch?));
        }
        nanos.push(start.elapsed().as_nanos());
        if total != expected {
            return Err("something else was read than was written".into());
        }
    }
    fs::remove_file(path)?;
    println!("{{\"nanos\":{:?}}}", &nanos[REPLAY_WARMUPS..]);
    Ok(())
}

async fn tell_held(path: &Path, count: usize, limit: usize) -> Result<(), Box<dyn Error>> {
    let schema = schema();
    let before = USED.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let (mut sender, _receiver) =
        create_replay_spill(path.to_path_buf(), schema.clone(), limit << 20);
    for i in 0..count {
        sender.write(batch(&schema, i as u64)?).await?;
    }
    sender.finish().await?;
    fs::remove_file(path)?;
    println!(
        "{{\"peakBytes\":{}}}",
        PEAK.load(Ordering::Relaxed) - before
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [work, first, second, directory] = arguments.as_slice() else {
        return Err(
            "usage: lance-spill write|replay|held BATCHES DISTINCT|LIMIT_MIB DIRECTORY".into(),
        );
    };
    let (first, second): (usize, usize) = (first.parse()?, second.parse()?);
    let path = PathBuf::from(directory).join(format!("lance-spill-{}", process::id()));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    match work.as_str() {
        "write" => runtime.block_on(time_writes(&path, first, second)),
        "replay" => runtime.block_on(time_replays(&path, first, second)),
        "held" => runtime.block_on(tell_held(&path, first, second)),
        other => Err(format!("there is no '{other}'").into()),
    }
}

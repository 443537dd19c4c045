//! One round of the doublets crate's volatile stores, split and united, with 64-bit ids.
//!
//! Usage: crate few|power links turn. Prints the same lines as ../main.c.

mod data;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use data::{Data, FREE_LINKS};
use doublets::data::Flow;
use doublets::mem::Global;
use doublets::{split, unit, Doublets, Link};

/// The system's allocator, which counts what is in use.
struct Counting;

static ALLOCATED: AtomicUsize = AtomicUsize::new(0);

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.fetch_add(layout.size(), Ordering::Relaxed);
        System.alloc(layout)
    }
    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size(), Ordering::Relaxed);
        System.dealloc(p, layout)
    }
    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATED.fetch_add(size, Ordering::Relaxed);
        ALLOCATED.fetch_sub(layout.size(), Ordering::Relaxed);
        System.realloc(p, layout, size)
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[derive(Default)]
struct Seen {
    links: u64,
    sum: u64,
}

impl Seen {
    #[inline]
    fn see(&mut self, id: usize, source: usize, target: usize) {
        self.links += 1;
        self.sum = self
            .sum
            .wrapping_add(id as u64)
            .wrapping_add((source as u64).wrapping_mul(3))
            .wrapping_add((target as u64).wrapping_mul(7));
    }

    #[inline]
    fn link(&mut self, link: Link<usize>) -> Flow {
        self.see(link.index, link.source, link.target);
        Flow::Continue
    }
}

/// Nanoseconds of the process's own time, as in ../main.c.
fn now() -> f64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: t is ours; the clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut t) };
    t.tv_sec as f64 * 1e9 + t.tv_nsec as f64
}

fn timed(name: &str, operation: &str, links: usize, work: impl FnOnce(&mut Seen)) {
    let mut seen = Seen::default();
    let started = now();
    work(&mut seen);
    let nanoseconds = (now() - started) / links as f64;
    println!("{name}\t{operation}\t{nanoseconds:.2}\t{}\t{}", seen.links, seen.sum);
}

fn measure<S: Doublets<usize>>(mut store: S, before: usize, data: &Data, name: &str) {
    let any = store.constants().any;
    let n = data.links;
    timed(name, "create", n, |seen| {
        for i in 1..=n {
            let id = if i <= FREE_LINKS {
                store.create().unwrap()
            } else {
                store.create_link(data.source[i], data.target[i]).unwrap()
            };
            seen.see(id, data.source[i], data.target[i]);
        }
    });
    let bytes = (ALLOCATED.load(Ordering::Relaxed) - before) as f64 / n as f64;
    println!("{name}\tbytes a link\t{bytes:.2}\t0\t0");
    timed(name, "read all", n, |seen| {
        store.each(|link| seen.link(link));
    });
    timed(name, "by id", n, |seen| {
        for &id in &data.order {
            seen.link(store.get_link(id).unwrap());
        }
    });
    timed(name, "by (source, target)", n, |seen| {
        for &id in data.order.iter().filter(|&&id| id > FREE_LINKS) {
            let found = store.search(data.source[id], data.target[id]).unwrap();
            seen.see(found, data.source[id], data.target[id]);
        }
    });
    timed(name, "by source", n, |seen| {
        for &id in &data.order {
            store.each_by([any, id, any], |link| seen.link(link));
        }
    });
    timed(name, "by target", n, |seen| {
        for &id in &data.order {
            store.each_by([any, any, id], |link| seen.link(link));
        }
    });
    timed(name, "update", n, |seen| {
        for &id in &data.order {
            store.update(id, data.target[id], data.source[id]).unwrap();
            seen.see(id, data.target[id], data.source[id]);
        }
    });
    timed(name, "delete", n, |seen| {
        for &id in &data.order {
            store.delete(id).unwrap();
            seen.see(id, 0, 0);
        }
    });
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.len() != 4 {
        eprintln!("usage: crate few|power links turn");
        std::process::exit(2);
    }
    let data = Data::make(arguments[1] == "power", arguments[2].parse().unwrap());
    let turn: usize = arguments[3].parse().unwrap();
    for i in 0..2 {
        let before = ALLOCATED.load(Ordering::Relaxed);
        if (i + turn) % 2 == 0 {
            let store = split::Store::<usize, _, _>::new(Global::new(), Global::new()).unwrap();
            measure(store, before, &data, "split");
        } else {
            let store = unit::Store::<usize, _>::new(Global::new()).unwrap();
            measure(store, before, &data, "united");
        }
    }
}

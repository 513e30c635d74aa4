import CLinux
import Glibc
import Synchronization

/// The event loops of a process, usually one per core.
package final class EventLoopGroup: Sendable {
  package let reactors: [Reactor]
  /// Threads for blocking work: name lookups, opening files, compression of large bodies.
  package let blockingPool: BlockingPool
  private let turn = Atomic<Int>(0)

  /// Starts `count` loops. Also makes the process ignore SIGPIPE: a write to a closed socket is an
  /// ordinary end of a connection, and `sendfile` has no flag for that.
  package init(count: Int, blockingThreadsMax: Int = 4) throws(SystemError) {
    precondition(count > 0, "a group needs a loop")
    signal(SIGPIPE, SIG_IGN)
    let pool = BlockingPool(threadsMax: blockingThreadsMax)
    blockingPool = pool
    let spares = SpareDescriptors(count: count)
    var reactors: [Reactor] = []
    for index in 0..<count {
      reactors.append(Reactor(loop: try EventLoop(index: index), resolver: pool, spares: spares))
    }
    self.reactors = reactors
    for reactor in reactors { reactor.start() }
  }

  /// Returns the loops in turn.
  package func next() -> Reactor {
    let ticket = turn.wrappingAdd(1, ordering: .relaxed).oldValue
    return reactors[Int(UInt(bitPattern: ticket) % UInt(reactors.count))]
  }

  /// Closes everything on every loop and stops the loops. Delegates get `.loopStopped`.
  package func shutdown() async {
    for reactor in reactors { await reactor.shutdown() }
  }

  /// The number of processors online.
  package static var coreCount: Int {
    max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
  }
}

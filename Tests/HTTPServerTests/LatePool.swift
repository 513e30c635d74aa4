import Synchronization
import Transport

/// The pool of a server that a handler needs before the server is there.
final class LatePool: Sendable {
  private let pool = Mutex<BlockingPool?>(nil)

  var value: BlockingPool? {
    get { pool.withLock { $0 } }
    set { pool.withLock { $0 = newValue } }
  }
}

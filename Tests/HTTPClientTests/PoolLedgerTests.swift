import TestSupport
import Testing

@testable import HTTPClient

struct PoolLedgerTests {
  @Test("The connection used last is used next")
  func usesTheConnectionUsedLast() {
    var ledger = PoolLedger(connectionsMax: 4, queueMax: 4)
    for exchange in 1...3 { #expect(ledger.admit(exchange).admission == .open) }
    for connection in [11, 12, 13] { #expect(ledger.release(connection) == .none) }
    #expect(ledger.admit(4).admission == .use(13))
    #expect(ledger.admit(5).admission == .use(12))
  }

  @Test("The queue is served in order and refuses when full")
  func servesTheQueueInOrderAndRefusesWhenItIsFull() {
    var ledger = PoolLedger(connectionsMax: 1, queueMax: 2)
    #expect(ledger.admit(1).admission == .open)
    #expect(ledger.admit(2).admission == .wait)
    #expect(ledger.admit(3).admission == .wait)
    #expect(ledger.admit(4).admission == .refuse)
    #expect(ledger.release(11) == .use(11, for: 2))
    #expect(ledger.release(11) == .use(11, for: 3))
    #expect(ledger.release(11) == .none)
    #expect(ledger.idleCount == 1)
  }

  @Test("A lost connection makes room for the next waiting request")
  func lostConnectionMakesRoomForTheNextInLine() {
    var ledger = PoolLedger(connectionsMax: 1, queueMax: 2)
    _ = ledger.admit(1)
    _ = ledger.admit(2)
    #expect(ledger.loseBusy() == .open(for: 2))
    #expect(ledger.loseBusy() == .none)
    #expect(ledger.admit(3).admission == .open)
  }

  @Test("A withdrawn request is skipped")
  func withdrawnRequestIsSkipped() {
    var ledger = PoolLedger(connectionsMax: 1, queueMax: 2)
    _ = ledger.admit(1)
    _ = ledger.admit(2)
    _ = ledger.admit(3)
    ledger.withdraw(2)
    #expect(ledger.release(11) == .use(11, for: 3))
  }

  @Test("A retry gets a new connection in place of the oldest idle one")
  func retryGetsANewConnectionInPlaceOfTheOldestIdleOne() {
    var ledger = PoolLedger(connectionsMax: 2, queueMax: 2)
    _ = ledger.admit(1)
    _ = ledger.admit(2)
    _ = ledger.release(11)
    _ = ledger.release(12)
    let (admission, evicted) = ledger.admit(3, avoidsReuse: true)
    #expect(admission == .open)
    #expect(evicted == 11)
  }

  @Test(
    "Connections and waiting requests never exceed the limits",
    arguments: 0..<10 as Range<UInt64>)
  func neverExceedsItsLimits(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var ledger = PoolLedger(connectionsMax: 5, queueMax: 7)
    var busy: [Int] = []
    var idle: [Int] = []
    var waiting: [Int] = []
    var next = 0

    func take(_ succession: PoolLedger.Succession) {
      switch succession {
      case .none: break
      case .use(let id, let exchange):
        #expect(waiting.removeFirst() == exchange, "seed \(seed)")
        busy.append(id)
        idle.removeAll { $0 == id }
      case .open(let exchange):
        #expect(waiting.removeFirst() == exchange, "seed \(seed)")
        next += 1
        busy.append(next)
      }
    }

    for exchange in 0..<2000 {
      switch Int.random(in: 0..<5, using: &generator) {
      case 0, 1:
        let (admission, evicted) = ledger.admit(exchange, avoidsReuse: exchange % 7 == 0)
        if let evicted { idle.removeAll { $0 == evicted } }
        switch admission {
        case .use(let id):
          #expect(idle.contains(id), "seed \(seed)")
          idle.removeAll { $0 == id }
          busy.append(id)
        case .open:
          next += 1
          busy.append(next)
        case .wait: waiting.append(exchange)
        case .refuse: #expect(waiting.count == 7, "seed \(seed)")
        }
      case 2 where !busy.isEmpty:
        let id = busy.remove(at: Int.random(in: 0..<busy.count, using: &generator))
        let succession = ledger.release(id)
        if succession == .none { idle.append(id) }
        take(succession)
      case 3 where !busy.isEmpty:
        busy.remove(at: Int.random(in: 0..<busy.count, using: &generator))
        take(ledger.loseBusy())
      case 4 where !idle.isEmpty:
        ledger.loseIdle(idle.remove(at: Int.random(in: 0..<idle.count, using: &generator)))
      default: break
      }
      #expect(busy.count + idle.count <= 5, "seed \(seed)")
      #expect(ledger.busyCount == busy.count, "seed \(seed)")
      #expect(ledger.idleCount == idle.count, "seed \(seed)")
      #expect(ledger.waitingCount == waiting.count, "seed \(seed)")
    }
  }
}

import Model
import Testing

@testable import Accounts

struct HashingQueueTests {
  private static func share(_ network: String, _ account: String? = nil) -> HashingShare {
    HashingShare(network: ClientNetwork(network), account: account ?? "account at \(network)")
  }

  @Test("A network has a limited number of places, with however many accounts")
  func networkShare() {
    var queue = HashingQueue(runningMax: 1)
    let submissions = (0..<10).map { queue.submit($0, Self.share("a", "account \($0)")) }
    #expect(submissions[0] == .starts)
    #expect(submissions[1..<4].allSatisfy { $0 == .waits })
    #expect(submissions[4...].allSatisfy { $0 == .refused })
  }

  @Test("An account has a limited number of places, from however many networks")
  func accountShare() {
    var queue = HashingQueue(runningMax: 1)
    let submissions = (0..<10).map { queue.submit($0, Self.share("network \($0)", "ada")) }
    #expect(submissions.count { $0 != .refused } == HashingQueue.placesPerAccount)
  }

  @Test("The networks of one block share the block's places")
  func blockShare() {
    var queue = HashingQueue(runningMax: 1)
    let taken = (0..<100).count { number in
      let network = ClientNetwork(name: "2001:db8:0:\(number)::", block: "2001:db8::/48")
      return queue.submit(number, HashingShare(network: network, account: "\(number)"))
        != .refused
    }
    #expect(taken == HashingQueue.placesPerBlock)
  }

  @Test("Networks take turns, whichever came first")
  func networksTakeTurns() {
    var queue = HashingQueue(runningMax: 1)
    for id in 0..<4 { _ = queue.submit(id, Self.share("a", "account \(id)")) }
    _ = queue.submit(10, Self.share("b"))
    _ = queue.submit(20, Self.share("c"))
    _ = queue.submit(21, Self.share("c", "another"))
    var order = [0]
    while let last = order.last, let next = queue.finish(last) { order.append(next) }
    #expect(order == [0, 10, 20, 1, 21, 2, 3])
    #expect(queue.submit(30, Self.share("d")) == .starts)
  }

  @Test("A newcomer displaces the last job of the network with the most places")
  func newcomerDisplaces() {
    var queue = HashingQueue(runningMax: 1)
    var id = 0
    // Eight networks have four places each: the queue is full.
    for network in 0..<8 {
      for account in 0..<4 {
        #expect(queue.submit(id, Self.share("network \(network)", "\(id) \(account)")) != .refused)
        id += 1
      }
    }
    #expect(queue.submit(100, Self.share("newcomer")) == .displaces(31))
    #expect(queue.submit(101, Self.share("newcomer", "another")) == .displaces(27))
    #expect(queue.submit(102, Self.share("network 0", "one more")) == .refused)
    // The newcomer's first job is next, because it had no turn yet.
    #expect(queue.finish(0) == 4)
    var order = [4]
    while let last = order.last, let next = queue.finish(last) { order.append(next) }
    #expect(order.count == 31 && order.firstIndex(of: 100).map { $0 <= 8 } == true)
  }

  @Test("At most the allowed number of jobs run, and every job ends once")
  func everyJobEndsOnce() {
    var generator = SystemRandomNumberGenerator()
    var queue = HashingQueue(runningMax: 3)
    var (running, waiting) = (Set<Int>(), Set<Int>())
    for id in 0..<5_000 {
      if Bool.random(using: &generator), let ending = running.randomElement(using: &generator) {
        running.remove(ending)
        if let next = queue.finish(ending) {
          #expect(waiting.remove(next) != nil)
          running.insert(next)
        } else {
          #expect(waiting.isEmpty)
        }
      }
      let network = "network \(Int.random(in: 0..<20, using: &generator))"
      switch queue.submit(id, Self.share(network, "account \(id % 50)")) {
      case .starts: running.insert(id)
      case .waits: waiting.insert(id)
      case .displaces(let other):
        #expect(waiting.remove(other) != nil)
        waiting.insert(id)
      case .refused: break
      }
      #expect(running.count <= 3 && running.count + waiting.count <= HashingQueue.placesMax)
    }
  }
}

import DemoUpstream
import LosslessJSON
import Synchronization
import TestSupport
import Testing

extension Ways {
  /// Settings and request members that change how the queue sends.
  struct SyncSettingsTests {
    @Test(
      "queue.parallel limits how many unrelated lazy mutations are sent at once", arguments: [1, 3])
    func parallelLimitsConcurrentSends(parallel: Int) async throws {
      let world = try await SyncWorld.start(settings: "queue: {parallel: \(parallel)}")
      let demo = world.larder.demo
      try await demo.change { $0.fail = .hang }
      var ids: [String] = []
      for film in 1...5 {
        ids.append(try await world.enqueue(SyncWorld.rating("f\(film)"), key: "\(film)"))
      }
      let requests = try await eventually {
        demo.report["RateFilm"].requests
      } until: {
        $0 == parallel
      }
      #expect(requests == parallel)
      try await demo.change { $0.fail = .off }
      for id in ids { #expect(try await world.mutation(id, wait: 10)["state"] == "applied") }
      #expect(demo.report.concurrencyMax == parallel)
      await world.stop()
    }

    @Test("Debounce sends only the last lazy change of an object")
    func debounceMergesChangesOfOneObject() async throws {
      let world = try await SyncWorld.start(settings: "queue: {debounce: 60s}")
      var ids: [String] = []
      for stars in 1...5 {
        ids.append(try await world.enqueue(SyncWorld.rating("f1", stars: stars), key: "\(stars)"))
      }
      for id in ids.dropLast() {
        #expect(try await world.mutation(id)["state"] == "superseded")
      }
      let last = try #require(ids.last)
      #expect(try await world.mutation(last)["state"] == "queued")
      // Steady mutations are not debounced, and a debounced one is sent before a mutation that conflicts with
      // it.
      let steady = try await world.enqueue(
        SyncWorld.renaming("f1", mode: "steady"), key: "steady")
      #expect(try await world.mutation(steady, wait: 10)["state"] == "applied")
      let sent = world.larder.demo.report.recent
      #expect(sent.compactMap { $0["idempotency-key"] } == [last, steady])
      #expect(sent.first?.variables["stars"] == 5)
      for id in ids.dropLast() {
        #expect(try await world.mutation(id)["sharedState"] == "applied")
      }
      await world.stop()
    }

    /// Each round begins while upstream goes away: the first change can be on its way to it already.
    @Test("Of lazy changes of one object made while upstream is away, only the latest is sent")
    func onlyTheLatestIsSent() async throws {
      let world = try await SyncWorld.start(settings: "queue: {probe: 1s}")
      let demo = world.larder.demo
      for round in 1...8 {
        let film = "f\(round)"
        try await demo.change { $0.fail = .refuse }
        var ids: [String] = []
        for stars in 1...3 {
          ids.append(
            try await world.enqueue(
              SyncWorld.rating(film, stars: stars), key: "\(round)-\(stars)"))
        }
        try await demo.change { $0.fail = .off }
        let last = try await world.mutation(try #require(ids.last), is: "applied")
        #expect(last["response"]?["data"]?["rateFilm"]?["myStars"] == 3, "round \(round)")
        for id in ids.dropLast() {
          let earlier = try await world.mutation(id)
          #expect(earlier["state"] == "superseded", "round \(round): \(earlier)")
          #expect(earlier["sharedState"] == "applied", "round \(round)")
        }
        let sent = demo.report.recent.filter { $0.variables["id"]?.string == film }
        #expect(sent.compactMap { $0.variables["stars"]?.int64 } == [3], "round \(round)")
      }
      await world.stop()
    }

    @Test("Lazy changes that name no object replace none")
    func changesWithoutObjectAreAllSent() async throws {
      let world = try await SyncWorld.start(
        operations: [
          "rate": """
          mutation Rate($id: ID!, $stars: Int!) @sync(repeatable: true) {
            rateFilm(id: $id, stars: $stars) { id myStars }
          }
          """
        ])
      func rating(_ stars: Int, object: String = "") -> String {
        #"{"operation":"Rate","mode":"lazy","variables":{"id":"f1","stars":\#(stars)}\#(object)}"#
      }
      try await world.pause()
      var ids: [String] = []
      for stars in 1...3 {
        ids.append(try await world.enqueue(rating(stars), key: "\(stars)"))
      }
      // The request can name it in the operation's place.
      for stars in 4...5 {
        ids.append(
          try await world.enqueue(
            rating(stars, object: #","object":"Film:f1""#), key: "\(stars)"))
      }
      try await world.resume()
      for (id, state) in zip(ids, ["applied", "applied", "applied", "superseded", "applied"]) {
        #expect(try await world.mutation(id, wait: 10)["state"]?.string == state)
      }
      let sent = world.larder.demo.report.recent.compactMap { $0.variables["stars"]?.int64 }
      #expect(sent.sorted() == [1, 2, 3, 5])
      await world.stop()
    }

    @Test("Debounce ends by itself")
    func debounceEndsByItself() async throws {
      let world = try await SyncWorld.start(settings: "queue: {debounce: 300ms}")
      let began = ContinuousClock.now
      let id = try await world.enqueue(SyncWorld.rating("f1"), key: "1")
      #expect(try await world.mutation(id, wait: 10)["state"] == "applied")
      #expect(ContinuousClock.now - began >= .milliseconds(300))
      await world.stop()
    }

    @Test("A mutation that is not sent before it expires is parked")
    func overdueMutationIsParked() async throws {
      let world = try await SyncWorld.start()
      try await world.pause()
      let late = try await world.enqueue(
        SyncWorld.rating("f1", more: #","expires":1"#), key: "1")
      let patient = try await world.enqueue(SyncWorld.rating("f2"), key: "2")
      let told = try await world.mutation(late, is: "parked")
      #expect(told["reason"] == "overdue")
      #expect(try await world.queue() == ["pending": 1, "parked": 1, "state": "paused"])
      try await world.resume()
      #expect(try await world.mutation(patient, wait: 10)["state"] == "applied")
      #expect(world.larder.demo.report["RateFilm"].requests == 1)
      for wrong in ["0", "-1", "1.5", #""1""#, "100000000"] {
        let refused = try await world.submit(
          SyncWorld.rating("f3", more: #","expires":\#(wrong)"#), key: wrong.filter(\.isNumber))
        #expect(refused.status == 422, "\(wrong)")
      }
      await world.stop()
    }

    @Test("A mutation that could have reached upstream cannot be withdrawn")
    func sentMutationCannotBeWithdrawn() async throws {
      let world = try await SyncWorld.start()
      let demo = world.larder.demo
      try await demo.change { $0.fail = .hang }
      let id = try await world.enqueue(SyncWorld.rating("f1"), key: "1")
      _ = try await eventually {
        demo.report["RateFilm"].requests
      } until: {
        $0 == 1
      }
      let refused = try await world.command("/v1/mutations/\(id)", method: "DELETE")
      #expect(refused.status == 409)
      #expect(refused.code == "mutation_sent")
      for word in ["retry", "discard"] {
        let refused = try await world.command("/v1/mutations/\(id)/\(word)")
        #expect(refused.status == 409)
        #expect(refused.code == "mutation_not_parked")
      }
      // Nor after the attempt, while it waits for the next.
      try await world.pause()
      try await demo.change { $0.fail = .off }
      #expect(try await world.mutation(id, is: "queued")["attempts"] == 1)
      let late = try await world.command("/v1/mutations/\(id)", method: "DELETE")
      #expect(late.code == "mutation_sent", "\(late.body)")
      try await world.resume()
      try await world.command("/v1/queue/flush")
      #expect(try await world.mutation(id, wait: 10)["state"] == "applied")
      await world.stop()
    }

    @Test("Only a parked mutation can be discarded")
    func onlyParkedMutationsAreDiscarded() async throws {
      let world = try await SyncWorld.start()
      try await world.pause()
      let id = try await world.enqueue(SyncWorld.rating("f1"), key: "1")
      let refused = try await world.command("/v1/mutations/\(id)/discard")
      #expect(refused.status == 409)
      #expect(refused.code == "mutation_not_parked")
      #expect(try await world.mutation(id)["state"] == "queued")
      await world.stop()
    }
  }
}

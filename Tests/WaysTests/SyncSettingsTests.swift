import DemoUpstream
import LosslessJSON
import Synchronization
import TestSupport
import Testing

extension Ways {
  /// What settings and the members of a request change about the queue's ways.
  struct SyncSettingsTests {
    @Test(arguments: [1, 3])
    func unrelatedLazyOnesGoTogetherAsFarAsSettingsSay(parallel: Int) async throws {
      let world = try await SyncWorld.start(settings: "queue: {parallel: \(parallel)}")
      let demo = world.larder.demo
      try await demo.change { $0.fail = .hang }
      var ids: [String] = []
      for film in 1...5 {
        ids.append(try await world.take(SyncWorld.rating("f\(film)"), key: "\(film)"))
      }
      let requests = try await eventually {
        demo.report["RateFilm"].requests
      } until: {
        $0 == parallel
      }
      #expect(requests == parallel)
      try await demo.change { $0.fail = .off }
      for id in ids { #expect(try await world.told(id, wait: 10)["state"] == "applied") }
      #expect(demo.report.concurrencyMax == parallel)
      await world.stop()
    }

    @Test func debounceGathersChangesOfOneObject() async throws {
      let world = try await SyncWorld.start(settings: "queue: {debounce: 60s}")
      var ids: [String] = []
      for stars in 1...5 {
        ids.append(try await world.take(SyncWorld.rating("f1", stars: stars), key: "\(stars)"))
      }
      for id in ids.dropLast() {
        #expect(try await world.told(id)["state"] == "superseded")
      }
      let last = try #require(ids.last)
      #expect(try await world.told(last)["state"] == "queued")
      // Steady ones do not wait, and what waits for more of its kind goes before what meets it.
      let steady = try await world.take(
        SyncWorld.renaming("f1", mode: "steady"), key: "steady")
      #expect(try await world.told(steady, wait: 10)["state"] == "applied")
      let sent = world.larder.demo.report.recent
      #expect(sent.compactMap { $0["idempotency-key"] } == [last, steady])
      #expect(sent.first?.variables["stars"] == 5)
      for id in ids.dropLast() {
        #expect(try await world.told(id)["sharedState"] == "applied")
      }
      await world.stop()
    }

    @Test func debounceEndsByItself() async throws {
      let world = try await SyncWorld.start(settings: "queue: {debounce: 300ms}")
      let began = ContinuousClock.now
      let id = try await world.take(SyncWorld.rating("f1"), key: "1")
      #expect(try await world.told(id, wait: 10)["state"] == "applied")
      #expect(ContinuousClock.now - began >= .milliseconds(300))
      await world.stop()
    }

    @Test func aMutationIsAskedAboutAfterItsTime() async throws {
      let world = try await SyncWorld.start()
      try await world.pause()
      let late = try await world.take(
        SyncWorld.rating("f1", more: #","expires":1"#), key: "1")
      let patient = try await world.take(SyncWorld.rating("f2"), key: "2")
      let told = try await world.told(late, is: "parked")
      #expect(told["reason"] == "overdue")
      #expect(try await world.queue() == ["pending": 1, "parked": 1, "state": "paused"])
      try await world.resume()
      #expect(try await world.told(patient, wait: 10)["state"] == "applied")
      #expect(world.larder.demo.report["RateFilm"].requests == 1)
      for wrong in ["0", "-1", "1.5", #""1""#, "100000000"] {
        let refused = try await world.hand(
          SyncWorld.rating("f3", more: #","expires":\#(wrong)"#), key: wrong.filter(\.isNumber))
        #expect(refused.status == 422, "\(wrong)")
      }
      await world.stop()
    }

    @Test func whatMayHaveReachedUpstreamIsNotTakenBack() async throws {
      let world = try await SyncWorld.start()
      let demo = world.larder.demo
      try await demo.change { $0.fail = .hang }
      let id = try await world.take(SyncWorld.rating("f1"), key: "1")
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
      #expect(try await world.told(id, is: "queued")["attempts"] == 1)
      let late = try await world.command("/v1/mutations/\(id)", method: "DELETE")
      #expect(late.code == "mutation_sent", "\(late.body)")
      try await world.resume()
      try await world.command("/v1/queue/flush")
      #expect(try await world.told(id, wait: 10)["state"] == "applied")
      await world.stop()
    }

    @Test func onlyWhatIsParkedIsDiscarded() async throws {
      let world = try await SyncWorld.start()
      try await world.pause()
      let id = try await world.take(SyncWorld.rating("f1"), key: "1")
      let refused = try await world.command("/v1/mutations/\(id)/discard")
      #expect(refused.status == 409)
      #expect(refused.code == "mutation_not_parked")
      #expect(try await world.told(id)["state"] == "queued")
      await world.stop()
    }
  }
}

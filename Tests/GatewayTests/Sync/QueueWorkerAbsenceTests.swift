import HTTPClient
import Model
import Storage
import Synchronization
import Testing

@testable import Gateway

/// An upstream outage of hours while many devices wait.
struct QueueWorkerAbsenceTests {
  private static let deviceCount = 10
  private static let eachCount = 50
  private static let concurrencyMax = 8
  private static let absence = Duration.seconds(6 * 3_600)
  /// Until then every timer fires on time, later only once in ``late``.
  private static let punctual = Duration.seconds(600)
  private static let late = Duration.seconds(60)

  @Test("Hundreds of mutations wait hours for upstream and are sent in order")
  func sendsInOrderAfterLongOutage() async throws {
    let isAway = Mutex(true)
    let world = try await WorkerWorld(concurrencyMax: Self.concurrencyMax) { call in
      isAway.withLock { $0 } ? .failure(.connectTimedOut) : FilmUpstream.rated(call.film)
    }
    var waiting: [(caller: Caller, films: [String], ids: [MutationID])] = []
    for device in 0..<Self.deviceCount {
      let caller = try await world.device()
      let films = (0..<Self.eachCount).map { "\(device)-\($0)" }
      let requests = films.enumerated().map { index, film in
        WorkerWorld.rating(film, index.isMultiple(of: 3) ? .lazy : .steady)
      }
      waiting.append((caller, films, try await world.enqueue(requests, by: caller)))
      try await world.rest()
    }

    while world.time.reading < Self.punctual { try await world.step() }
    while world.time.reading < Self.absence { try await world.step(atLeast: Self.late) }
    let probes = world.upstream.calls
    // One mutation detects the outage, and then only the oldest probes every five seconds. A late
    // timer causes one probe, not all that were missed.
    #expect(probes.allSatisfy { $0.film == "0-0" && $0.inFlight == 1 })
    for (probe, next) in zip(probes, probes.dropFirst()) {
      #expect(next.at - probe.at == (next.at <= Self.punctual ? .seconds(5) : Self.late))
    }
    #expect(probes.last?.at == Self.absence)
    for device in waiting {
      for id in device.ids {
        let mutation = try await world.record(id, of: device.caller)
        #expect(mutation.state == .queued && !mutation.everSent)
        #expect(mutation.attempts == 0 && mutation.strikes == 0)
      }
    }

    isAway.withLock { $0 = false }
    world.upstream.hold()
    world.time.advance(by: .seconds(5))
    // The first response allows two calls, and each later round twice as many as before.
    let worker = try world.sync.worker
    for width in [1, 2, Self.concurrencyMax, Self.concurrencyMax] {
      try await world.until {
        // Read first, since it only grows: if all running turns are held, no other one starts.
        let held = world.upstream.heldCount
        return held > 0 && held == worker.runningCount
      }
      #expect(world.upstream.heldCount == width)
      world.upstream.release()
    }
    world.upstream.release(forGood: true)
    let total = Self.deviceCount * Self.eachCount
    try await world.until { world.upstream.callCount == probes.count + total }
    try await world.until { worker.runningCount == 0 }

    let sent = world.upstream.calls.dropFirst(probes.count)
    for call in sent {
      let allowed = 1 << min(call.answered - probes.count, 3)
      #expect(call.inFlight <= min(allowed, Self.concurrencyMax), "\(call)")
    }
    for device in waiting {
      let films = Set(device.films)
      #expect(sent.map(\.film).filter(films.contains) == device.films)
      for id in device.ids {
        let mutation = try await world.record(id, of: device.caller)
        #expect(mutation.state == .applied && mutation.attempts == 1)
      }
    }
    // All of them at the moment when upstream was available again.
    #expect(Set(sent.map(\.at)).count == 1)
  }
}

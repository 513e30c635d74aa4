import TestSupport
import Testing
import Transport

struct LoopTests {
  @Test("A reactor's code runs on the loop's thread")
  func runsActorCodeOnItsOwnThread() async throws {
    try await withLoops(2) { group in
      for reactor in group.reactors {
        let isThere = await reactor.run { $0.loop.isCurrent }
        #expect(isThere)
        #expect(!reactor.loop.isCurrent)
      }
    }
  }

  @Test("An executor preference keeps async functions on the loop")
  func preferenceKeepsPlainAsyncWorkOnTheLoop() async throws {
    try await withLoops(1) { group in
      let loop = group.reactors[0].loop
      let places = await Task(executorPreference: loop) {
        let before = loop.isCurrent
        await Elsewhere().visit()
        return (before, await Elsewhere().isOn(loop), loop.isCurrent)
      }.value
      #expect(places == (true, true, true))
    }
  }

  @Test("No hop between loops and the pool is lost")
  func losesNoHopBetweenLoopsAndThePool() async throws {
    try await withLoops(3) { group in
      let total = await withTaskGroup(of: Int.self) { tasks in
        for index in 0..<64 {
          tasks.addTask {
            var hops = 0
            for step in 0..<200 {
              let reactor = group.reactors[(index + step) % 3]
              hops += await reactor.run { $0.loop.isCurrent ? 1 : 0 }
            }
            return hops
          }
        }
        return await tasks.reduce(0, +)
      }
      #expect(total == 64 * 200)
    }
  }

  @Test("A sleeping loop wakes up for a job")
  func wakesAfterTheLoopWentToSleep() async throws {
    try await withLoops(1) { group in
      let reactor = group.reactors[0]
      for _ in 0..<5 {
        let start = LoopClock.now()
        // Past the linger, so that the thread has gone back to Dispatch.
        _ = await eventuallyHolds { LoopClock.now() > start + .milliseconds(12) }
        #expect(await reactor.run { $0.loop.isCurrent })
      }
    }
  }

  /// A task that yields for ever must leave the loop time for its timers and sockets.
  @Test("A task that yields forever does not starve timers")
  func yieldingTaskDoesNotStarveTimers() async throws {
    try await withLoops(1) { group in
      let reactor = group.reactors[0]
      let recorder = FiringRecorder()
      await reactor.run { recorder.add(.milliseconds(20), on: $0) }
      let spinner = Task(executorPreference: reactor.loop) {
        while !Task.isCancelled { await Task.yield() }
      }
      #expect(await eventuallyHolds { recorder.fired.count == 1 })
      spinner.cancel()
      await spinner.value
    }
  }

  @Test("Jobs after the shutdown still run")
  func jobsAfterShutdownStillRun() async throws {
    let group = try EventLoopGroup(count: 1)
    await group.shutdown()
    #expect(await group.reactors[0].run { $0.loop.isCurrent })
  }

  @Test("A blocking pool runs more jobs than it has threads")
  func blockingPoolRunsMoreJobsThanItHasThreads() async throws {
    let pool = BlockingPool(threadsMax: 2)
    let sum = await withTaskGroup(of: Int.self) { tasks in
      for number in 1...100 { tasks.addTask { await pool.run { number } } }
      return await tasks.reduce(0, +)
    }
    #expect(sum == 5050)
  }
}

private actor Elsewhere {
  func visit() {}
  func isOn(_ loop: EventLoop) -> Bool { loop.isCurrent }
}

import TestSupport
import Testing

/// The end-to-end tests of every way through the service, one test after the other: each starts servers of
/// its own, and deadlines mean nothing while forty tests share two cores.
@Suite(.serialized) enum Ways {}

/// Repeats a request until its result satisfies a condition, for at most ten seconds; returns the last
/// result.
func eventually<Answer>(
  _ ask: () async throws -> Answer, until isWanted: (Answer) -> Bool
) async throws -> Answer {
  let deadline = ContinuousClock.now + .seconds(10)
  while true {
    let answer = try await ask()
    if isWanted(answer) || ContinuousClock.now > deadline { return answer }
    await pauseBetweenLooks()
  }
}

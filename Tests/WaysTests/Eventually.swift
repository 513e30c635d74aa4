/// Repeats a request until its result satisfies a condition, for at most ten seconds; returns the last
/// result.
func eventually<Answer>(
  _ ask: () async throws -> Answer, until isWanted: (Answer) -> Bool
) async throws -> Answer {
  let deadline = ContinuousClock.now + .seconds(10)
  while true {
    let answer = try await ask()
    if isWanted(answer) || ContinuousClock.now > deadline { return answer }
    await Task.yield()
  }
}

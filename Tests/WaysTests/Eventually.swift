/// Asks again until the answer is as wanted, for at most ten seconds; gives the last answer.
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

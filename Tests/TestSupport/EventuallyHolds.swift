/// Waits until a condition holds, and looks at it each millisecond. A test that looks without a pause takes the
/// processors from the tests beside it, and from what it waits for.
///
/// - Returns: false if it still does not hold after the limit.
package func eventuallyHolds(
  within limit: Duration = .seconds(30), _ condition: () async throws -> Bool
) async rethrows -> Bool {
  let deadline = ContinuousClock.now + limit
  while ContinuousClock.now < deadline {
    if try await condition() { return true }
    await pauseBetweenLooks()
  }
  return try await condition()
}

/// The pause between two looks at what a test waits for.
package func pauseBetweenLooks() async {
  // A cancelled task looks on until its deadline.
  do { try await Task.sleep(for: .milliseconds(1)) } catch { await Task.yield() }
}

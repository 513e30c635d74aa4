/// The pause between two looks at a condition that a test waits for. A test that looks without a pause takes the
/// processors from the tests beside it, and from what it waits for.
package func pauseBetweenLooks() async {
  // A cancelled task looks on until its deadline.
  do { try await Task.sleep(for: .milliseconds(1)) } catch { await Task.yield() }
}

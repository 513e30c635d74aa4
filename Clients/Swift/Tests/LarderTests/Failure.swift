import Testing

@testable import Larder

/// The library's error that a body fails with; nil if it does not fail. An error of another type fails the test.
func failure(_ body: () async throws -> Void) async -> LarderError? {
  do {
    try await body()
    return nil
  } catch let error as LarderError {
    return error
  } catch {
    Issue.record("\(error) is no error of the library.")
    return nil
  }
}

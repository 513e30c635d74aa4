import Dispatch

/// Runs blocking work on a thread of its own.
///
/// A blocking client on the cooperative pool would hold one of its few threads, and a server in the same
/// process would wait for that thread for ever.
package func onOwnThread<Answer: Sendable>(
  _ work: @escaping @Sendable () throws -> Answer
) async throws -> Answer {
  try await withCheckedThrowingContinuation { continuation in
    DispatchQueue(label: "blocking test work").async {
      continuation.resume(with: Result { try work() })
    }
  }
}

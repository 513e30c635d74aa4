import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Passes what URLSession receives on to the exchange that waits for it.
final class ExchangeReceiver: NSObject, URLSessionDataDelegate, Sendable {
  typealias Heads = AsyncThrowingStream<URLResponse, any Error>
  typealias Bodies = AsyncThrowingStream<Data, any Error>

  private struct Exchange: Sendable {
    let head: Heads.Continuation
    let body: Bodies.Continuation
  }

  private let exchanges = Locked<[ObjectIdentifier: Exchange]>([:])

  /// The head and the body of a task that has not been resumed yet. A body that is given up cancels the task.
  func register(_ task: URLSessionTask) -> (Heads, Bodies) {
    let (heads, head) = Heads.makeStream()
    let (bodies, body) = Bodies.makeStream()
    exchanges.withLock { $0[ObjectIdentifier(task)] = Exchange(head: head, body: body) }
    body.onTermination = { reason in
      if case .cancelled = reason { task.cancel() }
    }
    return (heads, bodies)
  }

  private func exchange(of task: URLSessionTask) -> Exchange? {
    exchanges.withLock { $0[ObjectIdentifier(task)] }
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    exchange(of: dataTask)?.head.yield(response)
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    exchange(of: dataTask)?.body.yield(data)
  }

  /// Redirections are not followed: credentials are for Larder alone.
  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    guard
      let exchange = exchanges.withLock({ $0.removeValue(forKey: ObjectIdentifier(task)) })
    else { return }
    exchange.head.finish(throwing: error)
    exchange.body.finish(throwing: error)
  }
}

import LosslessJSON
import Synchronization
import TestSupport
import Upstream

/// An upstream that opens subscriptions and sends what the test says.
final class SubscriptionScript: SubscriptionOpening {
  /// One subscription that was opened upstream.
  final class Opened: Sendable {
    let operation: String
    let variables: String
    let call: UpstreamCall
    let credential: String
    private let continuation: AsyncStream<SubscriptionEvent>.Continuation
    private let events: AsyncStream<SubscriptionEvent>
    private let cancelled = Atomic(false)
    private let taken = Atomic(0)

    fileprivate init(
      operation: String, variables: String, call: UpstreamCall, credential: String
    ) {
      self.operation = operation
      self.variables = variables
      self.call = call
      self.credential = credential
      (events, continuation) = AsyncStream.makeStream()
    }

    var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    /// The number of events that were read.
    var takenCount: Int { taken.load(ordering: .acquiring) }

    func send(_ event: SubscriptionEvent) { continuation.yield(event) }

    /// Sends a response, with `__typename` and key fields as upstream would.
    func next(_ response: String) {
      guard let document = try? JSONDocument(text: response),
        let response = UpstreamResponse(document: document)
      else { preconditionFailure("no response: \(response)") }
      send(.next(response))
    }

    /// Sends a change of an item.
    func change(_ id: String, _ name: String, version: Int = 1, in field: String = "itemChanged") {
      next(
        #"{"data":{"\#(field)":{"id":"\#(id)","name":"\#(name)","version":\#(version)}}}"#)
    }

    /// Ends without a last event, as a broken source would.
    func finish() { continuation.finish() }

    fileprivate var subscription: UpstreamSubscription {
      UpstreamSubscription(
        next: { [self] in
          for await event in events {
            taken.wrappingAdd(1, ordering: .acquiringAndReleasing)
            return event
          }
          return nil
        },
        cancel: { [self] in
          cancelled.store(true, ordering: .releasing)
          continuation.finish()
        })
    }
  }

  private let state = Mutex<[Opened]>([])
  private let renewals = Mutex<[String]>([])
  private let off = Atomic(false)

  var opened: [Opened] { state.withLock { $0 } }

  /// The credentials that were given newer headers, each with the value of its first header.
  var renewed: [String] { renewals.withLock { $0 } }

  /// Behaves like an upstream whose subscriptions settings switch off.
  func switchOff() { off.store(true, ordering: .releasing) }

  func isOff(for operation: RegisteredOperation) -> Bool { off.load(ordering: .acquiring) }

  func renew(
    _ operation: RegisteredOperation, credential: String, with call: UpstreamCall
  ) {
    renewals.withLock { $0.append("\(credential) \(call.forwarded.first?.value ?? "none")") }
  }

  func open(
    _ operation: RegisteredOperation, variables: Variables, call: UpstreamCall, credential: String
  ) -> UpstreamSubscription {
    let opened = Opened(
      operation: operation.name, variables: variables.json, call: call, credential: credential)
    state.withLock { $0.append(opened) }
    return opened.subscription
  }
}

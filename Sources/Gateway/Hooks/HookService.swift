package import Logging
package import Model
package import Storage
package import Upstream

/// Receives the webhooks by which upstream reports changes: verifies them, maps them to entities and
/// stores them.
///
/// What they bring is upstream's view with the service's own rights, so it is public: only fields that
/// operations show to all callers are stored, see ``Upstream/SchemaOutline``. A confirmed message is
/// durable, and the same message again changes nothing.
package final class HookService: Sendable {
  /// The header fields that authenticate a message.
  package struct Credentials: Sendable {
    package var id: String?
    package var timestamp: String?
    package var signature: String?
    package var secret: String?

    package init(id: String?, timestamp: String?, signature: String?, secret: String?) {
      self.id = id
      self.timestamp = timestamp
      self.signature = signature
      self.secret = secret
    }
  }

  package enum Outcome: Sendable {
    case applied(HookReceipt)
    case repeated
    case ignored(String)
  }

  /// A message whose header fields are valid, before its body has arrived.
  package struct Admission: Sendable {
    fileprivate let receiver: Receiver
    fileprivate let signature: WebhookSignature?
    fileprivate let requestID: String?
  }

  fileprivate struct Receiver: Sendable {
    let hook: Hook
    let meters: HookMeters
  }

  /// A webhook as operators see it.
  package struct Summary: Sendable {
    package let hook: Hook
    package let counts: HookCounts
  }

  private let receivers: [String: Receiver]
  private let outline: SchemaOutline?
  private let batcher: DeliveryBatcher
  private let clock: WallClock

  /// - Parameter outline: nil without webhooks.
  package init(
    hooks: [Hook], outline: SchemaOutline?, store: Store, calls: CallSequence,
    epoch: MutationEpoch, clock: WallClock, logger: Logger
  ) {
    receivers = Dictionary(
      hooks.map { hook in
        (hook.name, Receiver(hook: hook, meters: HookMeters(hook: hook.name, logger: logger)))
      },
      uniquingKeysWith: { first, _ in first })
    self.outline = outline
    batcher = DeliveryBatcher(store: store, calls: calls, epoch: epoch, clock: clock)
    self.clock = clock
  }

  /// All webhooks, in alphabetical order.
  package var summaries: [Summary] {
    receivers.values.sorted { $0.hook.name < $1.hook.name }
      .map { Summary(hook: $0.hook, counts: $0.meters.counts) }
  }

  /// Checks what the header fields can show, so that a stranger's body is not read.
  ///
  /// - Parameter requestID: the request's name in the log.
  /// - Throws: `notFound` for an unknown name, which is no secret: whatever the credentials.
  package func admit(
    _ name: String, _ credentials: Credentials, requestID: String? = nil
  ) throws(Failure) -> Admission {
    guard let receiver = receivers[name] else {
      throw Failure(.notFound, "No webhook of this name is in the settings (hooks.in).")
    }
    do throws(Failure) {
      switch receiver.hook.format {
      case .plain:
        return Admission(
          receiver: receiver, signature: try signature(credentials), requestID: requestID)
      case .hasura(let secrets, _):
        let given = Array((credentials.secret ?? "").utf8)
        var isKnown = false
        for secret in secrets where constantTimeEqual(given, Array(secret.utf8)) { isKnown = true }
        guard isKnown else {
          throw Failure(
            .webhookUnauthenticated,
            credentials.secret == nil
              ? "The header field webhook-secret is missing."
              : "The header field webhook-secret has another value than the settings.")
        }
        return Admission(receiver: receiver, signature: nil, requestID: requestID)
      }
    } catch {
      receiver.meters.note(
        error, isVerified: false, requestID: requestID, at: clock.now())
      throw error
    }
  }

  private func signature(_ credentials: Credentials) throws(Failure) -> WebhookSignature {
    do throws(WebhookSignature.Refusal) {
      return try WebhookSignature(
        id: credentials.id, timestamp: credentials.timestamp, signature: credentials.signature,
        now: clock.now())
    } catch {
      throw Failure(error)
    }
  }

  /// Verifies the body, and stores what it brings.
  package func receive(
    _ body: [UInt8], _ admission: Admission
  ) async throws(Failure) -> Outcome {
    let meters = admission.receiver.meters
    do throws(Failure) {
      let message = try read(body, admission)
      if let reason = message.ignored {
        meters.note(.ignored, at: clock.now())
        meters.note(ignored: reason)
        return .ignored(reason)
      }
      let receipt = try await batcher.submit(message.delivery)
      meters.note(receipt.isRepeated ? .repeated : .applied, at: clock.now())
      meters.note(receipt)
      return receipt.isRepeated ? .repeated : .applied(receipt)
    } catch {
      // The signature is checked before anything else of the body.
      meters.note(
        error, isVerified: error.code != .webhookUnauthenticated,
        requestID: admission.requestID, at: clock.now())
      throw error
    }
  }

  /// Notes a message whose body could not be read.
  package func note(_ failure: Failure, of admission: Admission) {
    admission.receiver.meters.note(
      failure, isVerified: admission.signature == nil, requestID: admission.requestID,
      at: clock.now())
  }

  private func read(_ body: [UInt8], _ admission: Admission) throws(Failure) -> HookMessage {
    guard let outline else {
      throw Failure(.internal, "A webhook was received without a schema.")
    }
    return try HookMessageReader(hook: admission.receiver.hook, outline: outline)
      .read(body, signature: admission.signature, received: clock.now())
  }
}

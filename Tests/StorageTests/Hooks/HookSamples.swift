import LosslessJSON
import Model
import Storage

extension HookDelivery {
  static let start: Int64 = 1_700_000_000_000

  /// A message with films.
  ///
  /// - Parameter at: milliseconds after the start; nil without a moment.
  static func of(
    _ event: String, at: Int64? = nil, isExact: Bool = true, received: Int64 = 60_000,
    films: [(id: String, JSONValue)] = [], hook: String = "films"
  ) -> HookDelivery {
    var delivery = HookDelivery(
      hook: hook, event: event,
      moment: at.map {
        HookDelivery.Moment(microseconds: (start + $0) * 1_000, isExact: isExact)
      }, received: Timestamp(milliseconds: start + received))
    for (id, value) in films {
      var fields: [NormalisedResponse.Field] = []
      for member in [JSONMember("id", .string(id))] + (value.members ?? []) {
        let from = delivery.bytes.count
        delivery.bytes += member.value.bytes
        fields.append(
          .init(name: member.name, range: from..<delivery.bytes.count, merges: false))
      }
      delivery.entities.append(.init(key: .film(id), fields: fields))
    }
    return delivery
  }
}

extension HookReceipt {
  static func of(
    written: Int = 0, deleted: Int = 0, outdated: Int = 0, disputed: Int = 0
  ) -> HookReceipt {
    var receipt = HookReceipt()
    receipt.written = written
    receipt.deleted = deleted
    receipt.outdated = outdated
    receipt.disputed = disputed
    return receipt
  }

  static var repeated: HookReceipt {
    var receipt = HookReceipt()
    receipt.isRepeated = true
    return receipt
  }
}

extension StoreFixture {
  /// Stores messages in one transaction, with consecutive numbers of calls.
  func receive(
    _ deliveries: HookDelivery..., from call: Int64, horizon: Int64? = nil,
    retention: HookRetention = HookRetention()
  ) async throws -> [HookReceipt] {
    try await store.receive(
      deliveries.enumerated().map {
        let number = call + Int64($0)
        return ($1, CallNumber(number), CallNumber(horizon ?? number))
      }, now: deliveries.last?.received ?? Timestamp(milliseconds: HookDelivery.start),
      retention: retention)
  }
}

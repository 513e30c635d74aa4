import LosslessJSON
import Model
package import Storage
import Upstream

/// Has reads by a temporary id find the real entity: variables that are whole such ids give way to
/// what they stand for, as they do when a queued mutation is sent.
package struct TemporaryVariables: Sendable {
  private let store: ReadSession

  package init(store: ReadSession) {
    self.store = store
  }

  /// Nil where there is nothing to put in place of anything: always, for a caller without a device.
  func resolved(_ variables: Variables, of caller: Caller) async throws(Failure) -> JSONValue? {
    guard let device = caller.device?.id, variables.json.utf8.contains(UInt8(ascii: "~")),
      let given = try? JSONValue(checked: variables.json)
    else { return nil }
    let mentioned = TemporaryID.mentioned(in: given)
    guard !mentioned.isEmpty else { return nil }
    do throws(StorageError) {
      let known = try await store.resolve(Array(mentioned), of: device)
      return known.isEmpty ? nil : TemporaryID.substituting(known, in: given)
    } catch {
      throw Failure(
        .storageUnavailable, "The store cannot be read at present.", retry: .after,
        retryAfter: .seconds(1), cause: "\(error)")
    }
  }
}

import Gateway
import Logging

extension AppliedTables {
  /// Everything that a replica keeps in memory of tables that only the leader writes, apart from what the
  /// reports of commits name: rendered responses, lists, overlays and the head.
  ///
  /// - Parameter endCredentials: ends the responses that were cached for callers by their tokens.
  init(
    devices: DeviceRegistry, accounts: AccountDirectory?, signingKeys: SigningKeyService?,
    s3Keys: S3Keys?, files: FileService?,
    endCredentials: @escaping @Sendable () -> Void, logger: Logger
  ) {
    var memories: [Memory] = [
      Memory(of: ["device", "device_token"]) { await devices.noteApplied() }
    ]
    if let signingKeys {
      memories.append(
        Memory(of: ["signing_key"]) {
          do {
            try await signingKeys.noteApplied()
          } catch {
            logger.error(
              "the keys that sign access tokens could not be read", metadata: ["cause": "\(error)"])
          }
          endCredentials()
        })
    }
    if let accounts {
      memories.append(
        Memory(of: ["disabled_account"]) {
          do {
            try await accounts.noteApplied()
          } catch {
            logger.error(
              "the disabled accounts could not be read", metadata: ["cause": "\(error)"])
          }
          endCredentials()
        })
    }
    if let s3Keys { memories.append(Memory(of: ["s3_key"]) { s3Keys.noteApplied() }) }
    if let files {
      memories.append(
        Memory(of: ["file_bucket", "file_object", "file_object_part"]) { files.noteApplied() })
    }
    self.init(memories)
  }
}

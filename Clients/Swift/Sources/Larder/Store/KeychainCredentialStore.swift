#if canImport(Security)
  public import Foundation
  import Security

  /// Credentials as one generic password of the Keychain, readable after the first unlock, on this
  /// device only.
  public struct KeychainCredentialStore: CredentialStore {
    public let service: String

    /// - Parameter service: different for each `Larder` of the app.
    public init(service: String) {
      self.service = service
    }

    private var query: [CFString: Any] {
      [
        kSecClass: kSecClassGenericPassword, kSecAttrService: service,
        kSecAttrAccount: "larder",
      ]
    }

    public func load() throws -> Data? {
      var found: CFTypeRef?
      let asked = query.merging([kSecReturnData: true]) { $1 }
      switch SecItemCopyMatching(asked as CFDictionary, &found) {
      case errSecSuccess: return found as? Data
      case errSecItemNotFound: return nil
      case let status: throw NSError(domain: NSOSStatusErrorDomain, code: Int(status))
      }
    }

    public func save(_ credentials: Data) throws {
      let content: [CFString: Any] = [
        kSecValueData: credentials,
        kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
      ]
      var status = SecItemUpdate(query as CFDictionary, content as CFDictionary)
      if status == errSecItemNotFound {
        status = SecItemAdd(query.merging(content) { $1 } as CFDictionary, nil)
      }
      guard status == errSecSuccess else {
        throw NSError(domain: NSOSStatusErrorDomain, code: Int(status))
      }
    }
  }
#endif

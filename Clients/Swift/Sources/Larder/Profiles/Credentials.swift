import Foundation

/// All profiles of the phone, as they are saved.
struct Credentials: Codable, Sendable {
  var profiles: [Profile] = []
  /// The id of the active profile.
  var active: String?
  /// Sessions that have ended on the phone, of which Larder does not know yet.
  var signOuts: [SignOut] = []
}

extension Credentials {
  /// Nil if nothing was saved.
  init?(loading store: any CredentialStore) throws {
    let saved: Data?
    do {
      saved = try store.load()
    } catch {
      throw LarderError.storage("the credentials cannot be read (\(error))")
    }
    guard let saved else { return nil }
    do {
      self = try JSONDecoder().decode(Credentials.self, from: saved)
    } catch {
      throw LarderError.storeDamaged("the credentials are not in the form of the library")
    }
  }
}

/// A device, and the user it belongs to if there is one.
struct Profile: Codable, Hashable, Sendable {
  /// Made on the phone; the store's rows name it.
  let id: String
  var deviceID: String
  var deviceToken: String
  var userID: String?
  var email: String?
  /// Nil without a user, after signing out, and once Larder has refused to refresh it.
  var session: Session?
}

struct Session: Codable, Hashable, Sendable {
  let accessToken: String
  let refreshToken: String
  /// By the phone's clock.
  let expiresAt: Date
}

struct SignOut: Codable, Hashable, Sendable {
  let refreshToken: String
  let deviceToken: String
}

import Accounts
import Testing

struct EmailAddressTests {
  @Test("Addresses are compared in lower case")
  func lowerCase() {
    #expect(EmailAddress("Ada@Example.COM") == EmailAddress("ada@example.com"))
  }

  @Test(
    "Invalid addresses are refused",
    arguments: [
      "", "ada", "@example.com", "ada@", "a@b@c", "a b@c", "a\u{0}@c", "a@c\n", "a@\u{85}c",
      "\(String(repeating: "a", count: 254))@c",
    ])
  func refusesInvalid(text: String) {
    #expect(EmailAddress(text) == nil)
  }

  @Test("Credentials print without the password")
  func credentialsHidePassword() throws {
    let credentials = try Credentials.of("ada", "correct horse")
    var dumped = ""
    dump(credentials, to: &dumped)
    #expect(!"\(credentials) \(String(reflecting: credentials)) \(dumped)".contains("horse"))
  }
}

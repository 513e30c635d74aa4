import Cryptography
import Foundation
import Testing

@testable import Composition

struct ConsolePolicyTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../../Public").standardized.path

  @Test(
    "The console's policy allows only its own script and style",
    arguments: ["script", "style"])
  func policyNamesWhatThePageHolds(element: String) throws {
    let page = try String(contentsOfFile: "\(Self.folder)/index.html", encoding: .utf8)
    let parts = page.components(separatedBy: "<\(element)>")
    #expect(parts.count == 2, "one \(element) element, without attributes")
    let text = try #require(parts.last?.components(separatedBy: "</\(element)>").first)
    let digest = Data(SHA256.hash(data: Data(text.utf8))).base64EncodedString()
    let policy = PublicFolder.policy(ofPageIn: Self.folder)
    #expect(
      policy.contains("\(element)-src 'sha256-\(digest)';"),
      "Public/index.html: its meta element must say \(element)-src 'sha256-\(digest)'")
    #expect(!policy.contains("unsafe"))
    // The policy blocks handlers in attributes.
    #expect(page.firstRange(of: /\son[a-z]+="/) == nil && !page.contains(" style=\""))
  }

  @Test("The demo page's policy allows only files of this service, and no script in the page")
  func policyOfTheDemo() throws {
    let page = try String(contentsOfFile: "\(Self.folder)/demo/index.html", encoding: .utf8)
    let policy = PublicFolder.policy(ofPageIn: "\(Self.folder)/demo")
    #expect(policy.contains("default-src 'none'") && policy.contains("script-src 'self'"))
    #expect(!policy.contains("unsafe"))
    #expect(!page.contains("<style") && !page.contains(" style=\""))
    #expect(page.firstRange(of: /<script(?![^>]* src=)/) == nil)
    #expect(page.firstRange(of: /\son[a-z]+="/) == nil)
  }

  @Test("Without the console's page, the policy allows nothing")
  func policyWithoutPage() {
    #expect(PublicFolder.policy(ofPageIn: "/nonexistent") == "default-src 'none'")
  }
}

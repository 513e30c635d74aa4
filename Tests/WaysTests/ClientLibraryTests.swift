import Foundation
import TestSupport
import Testing

extension Ways {
  struct ClientLibraryTests {
    @Test("The client library has the version in its tags, and is revalidated without a body")
    func libraryIsServed() async throws {
      let larder = try await RunningLarder.start()
      let library = try await larder.get("/client/larder.js")
      #expect(library.status == 200)
      #expect(library["content-type"] == "text/javascript; charset=utf-8")
      #expect(library["cache-control"] == "no-cache")
      #expect(library.text.contains("export class Larder"))
      let tag = try #require(library["etag"])
      #expect(tag.firstMatch(of: /^"\d+\.\d+\.\d+[^"]*-[A-Za-z0-9_-]{16}"$/) != nil, "\(tag)")
      let again = try await larder.get("/client/larder.js", ("If-None-Match", tag))
      #expect(again.status == 304 && again.body.isEmpty)
      #expect(again["etag"] == tag)
      // It is the same for every caller, whatever the credentials.
      let other = try await larder.get("/client/larder.js", ("Device-Token", "unknown"))
      #expect(other.status == 200 && other["etag"] == tag)
      await larder.stop()
    }

    @Test("Every module that a module of the client library imports is served")
    func importsAreServed() async throws {
      let larder = try await RunningLarder.start()
      var names = ["larder.js"]
      var seen: Set<String> = []
      while let name = names.popLast() {
        guard seen.insert(name).inserted else { continue }
        let module = try await larder.get("/client/\(name)")
        #expect(module.status == 200, "\(name)")
        names += module.text.matches(of: /\bfrom "\.\/([^"]+)"/).map { String($0.output.1) }
      }
      #expect(seen.count > 5)
      for name in ["none.js", "node.js", "..%2Flarder.js"] {
        #expect(try await larder.get("/client/\(name)").status == 404, "\(name)")
      }
      await larder.stop()
    }

    @Test("The demo page may load only files of this service, and the console only its own")
    func policies() async throws {
      let larder = try await RunningLarder.start()
      let demo = try await larder.get("/demo/")
      #expect(demo.status == 200)
      let policy = try #require(demo["content-security-policy"])
      #expect(policy.contains("script-src 'self'") && policy.contains("frame-ancestors 'none'"))
      #expect(demo["x-frame-options"] == "DENY")
      let worker = try await larder.get("/demo/sw.js")
      #expect(worker["content-security-policy"] == policy)
      let console = try await larder.get("/")
      let own = try #require(console["content-security-policy"])
      #expect(own.contains("default-src 'none'") && own.contains("script-src 'self'"))
      #expect(!own.contains("unsafe-inline"))
      await larder.stop()
    }
  }
}

import HTTPTypes
import Testing

@testable import HTTPClient

/// Every raw response over a real socket, followed by a second request that shows whether the
/// connection was used again.
struct ResponseCorpusTests {
  @Test("The corpus of responses is loaded")
  func corpusIsLoaded() {
    #expect(ResponseCase.all.count == 60)
  }

  @Test(
    "Each raw response has its expected outcome over a socket",
    arguments: ResponseCase.all)
  func meetsItsExpectation(_ test: ResponseCase) async throws {
    try await ClientSetting.run { request in
      if request.index > 0 { return .keep("HTTP/1.1 299 reused\r\nContent-Length: 0\r\n\r\n") }
      if request.target == "/second" { return .end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") }
      return test.hold == true ? .keep([UInt8](test.bytes)) : .end([UInt8](test.bytes))
    } body: { setting in
      let method = try #require(HTTPRequest.Method(test.method))
      var request = setting.request("/first", method: method)
      request.isSafeToRepeat = false
      var answer: HTTPClientResponse?
      var failure: HTTPClientError?
      do throws(HTTPClientError) {
        answer = try await setting.client.execute(request, within: .seconds(5))
      } catch {
        failure = error
      }
      #expect(failure != .noResponseInTime && failure != .responseTooSlow)
      switch test.expect {
      case "ok": #expect(failure == nil)
      case "error": #expect(failure != nil)
      default: break
      }
      guard let answer else { return }
      #expect(answer.status.code == test.status)
      if let body = test.body { #expect(answer.body == [UInt8](body)) }
      let second = try await setting.client.execute(setting.request("/second"))
      if test.reuse == false || test.hold != true { #expect(second.status.code == 200) }
      if test.expect == "ok", test.hold == true, test.reuse != false {
        #expect(second.status.code == 299)
      }
    }
  }
}

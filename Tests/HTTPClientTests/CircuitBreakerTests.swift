import Testing
import Transport

@testable import HTTPClient

struct CircuitBreakerTests {
  @Test func startsClosed() {
    #expect(CircuitBreaker(settings: .init()).isClosed)
  }
}

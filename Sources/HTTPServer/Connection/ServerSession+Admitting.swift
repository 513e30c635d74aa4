import HTTPTypes
import HTTPWire
import Transport

extension ServerSession {
  /// Whom the peer, which is a proxy of ours, asks for.
  func proxiedClient() -> ProxiedClient {
    connection.withHead {
      ProxiedClient(
        of: $0.fields, from: stream.remoteAddress, trusts: server.shared.configuration.proxies)
    }
  }

  /// Counts the request where rates are limited, and has its answer tell of that.
  func judgeRate(of client: ProxiedClient?, on reactor: isolated Reactor) -> RateVerdict? {
    guard let rates = server.rates else { return nil }
    let verdict = connection.withHead {
      rates.judge($0, from: client?.address ?? stream.remoteAddress, now: stream.now)
    }
    server.stamp.rate = verdict
    return verdict
  }

  /// Why a request that can be read is not given to the handler.
  static func refusal(rate: RateVerdict?, coding: ContentDecoding?) -> ServerProblem? {
    if let rate, !rate.isAllowed {
      return .rateLimited(retryAfterSeconds: rate.resetSeconds)
    }
    return coding == nil ? .refused(.unknownContentCoding) : nil
  }

  /// The answer in the handler's place.
  static func answer(
    _ refusal: ServerProblem, to request: ServerRequest, of server: LoopServer
  ) -> ServerResponse {
    var response = ServerResponse.problem(refusal, for: request)
    switch refusal {
    case .rateLimited(let seconds): response.fields[.retryAfter] = "\(seconds)"
    case .refused(.unknownContentCoding):
      response.fields[.acceptEncoding] = ContentDecoding.accepted
    default: break
    }
    server.handler.decorate(&response, for: request)
    return response
  }
}

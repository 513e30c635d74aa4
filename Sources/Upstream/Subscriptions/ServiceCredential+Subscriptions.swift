extension UpstreamConfiguration {
  /// Returns an event of a subscription that was opened with the service's own credential.
  func event(_ event: SubscriptionEvent) -> SubscriptionEvent {
    switch event {
    case .failed(let failure): .failed(self.failure(failure))
    case .interrupted(let failure): .interrupted(self.failure(failure))
    default: event
    }
  }

  private func failure(_ failure: UpstreamFailure) -> UpstreamFailure {
    switch failure {
    case .refused(.unauthenticated), .status(401, _), .status(403, _):
      .serviceRefused(ServiceRefusal(reason: "\(failure)", settings: credentialSettings))
    default: failure
    }
  }
}

/// How notifications leave, and who may send them.
package struct PushSettings: Sendable {
  package enum Sender: String, CaseIterable, Sendable {
    case outbox
    case onesignal
  }

  package enum API: String, CaseIterable, Sendable {
    case current
    case legacy
  }

  package enum MaySend: String, CaseIterable, Sendable {
    case users
    case admin
  }

  package var sender = Sender.outbox
  package var appID: String?
  package var apiKey: Secret?
  package var api = API.current
  package var send = MaySend.admin
  /// Of one user. Each may go to thousands, so somebody who types fast is fast enough.
  package var sendsPerMinute = 60
  /// Where OneSignal is asked; nil = where the interface in ``api`` is.
  package var url: ServiceURL?
  package var rules: [PushRuleSettings] = []
}

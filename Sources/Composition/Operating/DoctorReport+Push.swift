import HTTPClient
import Push
import Transport

extension DoctorReport {
  /// OneSignal answers this at once; a doctor who waits as long as a batch may is of no use.
  private static let pushPatience = Duration.seconds(10)

  /// Whether OneSignal answers, and takes the key for the application. Nobody is notified.
  static func push(_ settings: PushSettings) async -> [Finding] {
    guard settings.sender == .onesignal else { return [] }
    do {
      let group = try EventLoopGroup(count: 1)
      let oneSignal = OneSignalSettings(settings)
      let client = try PushAssembly.client(of: oneSignal, group: group)
      let sender = OneSignalSender(oneSignal, clock: SystemClock.wall) {
        request, limit throws(HTTPClientError) in
        try await client.execute(request, within: min(limit, pushPatience))
      }
      let finding = await ask(sender, at: oneSignal.base)
      await client.close()
      await group.shutdown()
      return [finding]
    } catch {
      return [Finding(part: "push", verdict: .bad, text: "\(error)")]
    }
  }

  private static func ask(_ sender: OneSignalSender, at base: String) async -> Finding {
    do throws(PushFault) {
      try await sender.probe()
      return Finding(
        part: "push", verdict: .good, text: "\(base) answers, and takes push.apiKey")
    } catch {
      let (verdict, text) = complaint(error)
      return Finding(part: "push", verdict: verdict, text: "\(base): \(text)")
    }
  }

  private static func complaint(_ fault: PushFault) -> (Finding.Verdict, String) {
    switch fault {
    case .notSent(let reason): (.bad, "it cannot be reached: \(reason)")
    case .unknown(let reason): (.bad, "it does not answer as OneSignal does: \(reason)")
    case .credentialsRefused(let reason):
      (.bad, "it does not take push.apiKey for push.appId and push.api: \(reason)")
    case .permanent(let reason):
      (.bad, "it does not know push.appId, or push.url is another's: \(reason)")
    case .transient(_, let reason):
      (.note, "it is busy, and so does not say whether it takes push.apiKey: \(reason)")
    }
  }
}

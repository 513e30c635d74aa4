/// Which of the vendor's two APIs a request speaks.
package enum OneSignalForm: Sendable, CaseIterable {
  case current, legacy
}

/// The names in HTTP's dates. They are English and case-sensitive wherever the reader is.
enum DateNames {
  /// From Sunday on, in full as RFC 850 has them; the other forms take three letters.
  static let weekdays = [
    "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
  ]
  static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
}

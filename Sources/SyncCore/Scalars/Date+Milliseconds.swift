package import Foundation

extension Date {
    /// Whole milliseconds since 1970, rounded; nil outside the years 1 to 9999.
    package var milliseconds: Int64? {
        let value = (timeIntervalSince1970 * 1000).rounded()
        guard value >= Double(DateText.range.lowerBound), value <= Double(DateText.range.upperBound) else { return nil }
        return Int64(value)
    }

    package init(milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
}

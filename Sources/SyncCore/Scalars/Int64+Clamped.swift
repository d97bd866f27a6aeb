extension Int64 {
    /// The sum, or the nearest `Int64` where it overflows. For numbers that come from a file.
    package func clampedAdding(_ other: Int64) -> Int64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, or the nearest `Int64` where it overflows. For numbers that come from a file.
    package func clampedSubtracting(_ other: Int64) -> Int64 {
        let (difference, overflows) = subtractingReportingOverflow(other)
        return overflows ? (other < 0 ? .max : .min) : difference
    }
}

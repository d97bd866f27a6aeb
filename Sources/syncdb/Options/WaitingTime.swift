import ArgumentParser

/// `--busy-timeout 30s`: a time in milliseconds, or with `ms`, `s` or `m`.
struct WaitingTime: ExpressibleByArgument, Equatable {
    let milliseconds: Int32

    private static let units: [(suffix: String, milliseconds: Double)] = [("ms", 1), ("s", 1000), ("m", 60_000)]

    init?(argument: String) {
        let text = argument.lowercased()
        let unit = Self.units.first { text.hasSuffix($0.suffix) }
        let digits = text.dropLast(unit?.suffix.count ?? 0)
        guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }),
            let number = Double(digits),
            let milliseconds = Int32(exactly: (number * (unit?.milliseconds ?? 1)).rounded())
        else { return nil }
        self.milliseconds = milliseconds
    }
}

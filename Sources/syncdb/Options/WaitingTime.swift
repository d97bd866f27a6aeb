import ArgumentParser

/// `--busy-timeout 30s`: a time in milliseconds, or with `ms`, `s` or `m`.
struct WaitingTime: ExpressibleByArgument, Equatable {
    let milliseconds: Int32

    private static let units: [(suffix: String, milliseconds: Double)] = [("ms", 1), ("s", 1000), ("m", 60_000)]

    init?(argument: String) {
        guard let milliseconds = Self.milliseconds(argument, plain: 1).flatMap(Int32.init(exactly:)) else { return nil }
        self.milliseconds = milliseconds
    }

    /// - Parameter plain: How many milliseconds a number without a unit stands for.
    static func milliseconds(_ argument: String, plain: Double) -> Double? {
        let text = argument.lowercased()
        let unit = units.first { text.hasSuffix($0.suffix) }
        let digits = text.dropLast(unit?.suffix.count ?? 0)
        guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }),
            let number = Double(digits)
        else { return nil }
        return (number * (unit?.milliseconds ?? plain)).rounded()
    }
}

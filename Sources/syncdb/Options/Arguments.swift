import ArgumentParser

/// `--max-size 4G`: a number of bytes, with K, M, G or T for powers of 1024.
struct ByteCount: ExpressibleByArgument, Equatable {
    let bytes: Int

    /// Far more than a service answers at once, and still something a machine can hold.
    static let standard = ByteCount(bytes: 2 << 30)

    private static let units: [Character: Int] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40]

    init(bytes: Int) { self.bytes = bytes }

    init?(argument: String) {
        var digits = argument.uppercased()[...]
        if digits.hasSuffix("IB") { digits = digits.dropLast(2) } else if digits.hasSuffix("B") { digits.removeLast() }
        let unit = digits.last.flatMap { Self.units[$0] }
        if unit != nil { digits.removeLast() }
        guard digits.allSatisfy(\.isASCII), let number = Int(digits), number > 0 else { return nil }
        let (bytes, isTooLarge) = number.multipliedReportingOverflow(by: unit ?? 1)
        guard !isTooLarge else { return nil }
        self.bytes = bytes
    }

    /// As it can be given: `2G`.
    var defaultValueDescription: String {
        let unit = Self.units.sorted { $0.value > $1.value }.first { bytes % $0.value == 0 }
        return unit.map { "\(bytes / $0.value)\($0.key)" } ?? "\(bytes)"
    }
}

/// A result with its unit.
struct Measurement: Codable {
    let name: String
    let value: Double
    let unit: String
}

extension Duration {
    /// The duration in seconds.
    var seconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }
}

extension [Double] {
    /// Returns a quantile of the values.
    func quantile(_ part: Double) -> Double {
        guard !isEmpty else { return .nan }
        return sorted()[Swift.min(count - 1, Int(Double(count) * part))]
    }
}

/// Returns the median of several runs, after one that warms up.
func median(of runs: Int, _ measure: () async throws -> Double) async throws -> Double {
    _ = try await measure()
    var values: [Double] = []
    for _ in 0..<runs { values.append(try await measure()) }
    return values.quantile(0.5)
}

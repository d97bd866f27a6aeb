/// A number of bytes for people, in units of thousands: `27 bytes`, `1.2 kB`, `140 MB`.
enum ByteAmount {
    static func text(_ count: Int) -> String {
        let units = [count == 1 ? "byte" : "bytes", "kB", "MB", "GB", "TB"]
        var (value, unit) = (Double(count), 0)
        while value >= 1000, unit < units.count - 1 { (value, unit) = (value / 1000, unit + 1) }
        let digits = unit > 0 && value < 10 ? "\((value * 10).rounded(.down) / 10)" : "\(Int(value))"
        return "\(digits) \(units[unit])"
    }
}

/// The one spelling of a decimal: no exponent, no needless zeros. Equal values have equal text.
package enum DecimalText {
    /// What a decimal holds.
    package static let maximumDigits = 38

    /// Appends the canonical text of a number; false if it is none, or has more than 38 digits.
    package static func append(_ text: UnsafeBufferPointer<UInt8>, to out: inout [UInt8]) -> Bool {
        guard let parts = NumberText.parts(text), parts.digits.count <= maximumDigits, abs(parts.exponent) <= 127 else {
            return false
        }
        NumberText.append(parts, to: &out)
        return true
    }
}

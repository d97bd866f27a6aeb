// The bytes of the characters that forms of rows are made of.
extension UInt8 {
    @inline(__always) static var tab: UInt8 { 0x09 }
    @inline(__always) static var newline: UInt8 { 0x0A }
    @inline(__always) static var carriageReturn: UInt8 { 0x0D }
    /// What is below it is a control character.
    @inline(__always) static var blank: UInt8 { 0x20 }
    @inline(__always) static var quote: UInt8 { 0x22 }
    @inline(__always) static var comma: UInt8 { 0x2C }
    @inline(__always) static var minus: UInt8 { 0x2D }
    @inline(__always) static var point: UInt8 { 0x2E }
    @inline(__always) static var digit0: UInt8 { 0x30 }
    @inline(__always) static var colon: UInt8 { 0x3A }
    @inline(__always) static var backslash: UInt8 { 0x5C }
    @inline(__always) static var openBrace: UInt8 { 0x7B }
    @inline(__always) static var closeBrace: UInt8 { 0x7D }
}

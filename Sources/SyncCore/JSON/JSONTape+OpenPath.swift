extension JSONTape {
    /// The path to where a value would come next, while it is being laid out: `.notes[2].id`. Open objects and arrays
    /// have no `next` yet.
    func openPath(in bytes: [UInt8]) -> String {
        var path = ""
        var container = 0
        while container < tokens.count, tokens[container].next == 0 {
            let isObject = tokens[container].kind == .object
            var value = container + 1
            var index = 0
            var key = container
            while true {
                if isObject {
                    key = value
                    value += 1
                }
                guard value < tokens.count, tokens[value].next != 0 else { break }
                value = Int(tokens[value].next)
                index += 1
            }
            if isObject {
                guard key < tokens.count else { return path }
                let text = tokens[key].offset..<tokens[key].offset + Int(tokens[key].length)
                path += "." + String(decoding: bytes[text], as: UTF8.self)
            } else {
                path += "[\(index)]"
            }
            container = value
        }
        return path
    }
}

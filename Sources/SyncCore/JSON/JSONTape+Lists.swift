extension JSONTape {
    /// So many lists are told, and keys up to this length in bytes.
    private static let mostLists = 8
    private static let longestKey = 100

    /// The key paths to lists of objects inside the object at the first token, outer ones first; to empty lists if there
    /// are no others.
    package func listPaths(in bytes: UnsafeBufferPointer<UInt8>) -> [[String]] {
        var lists: [[String]] = []
        var empty: [[String]] = []
        var level: [(path: [String], object: Int)] = [([], 0)]
        while !level.isEmpty, lists.count < Self.mostLists {
            var next: [(path: [String], object: Int)] = []
            for (path, object) in level {
                var key = object + 1
                while key < Int(tokens[object].next), lists.count < Self.mostLists {
                    let value = key + 1
                    defer { key = Int(tokens[value].next) }
                    guard tokens[value].kind == .object || tokens[value].kind == .array,
                        tokens[key].length <= Self.longestKey
                    else { continue }
                    let found = path + [text(at: key, in: bytes)]
                    if tokens[value].kind == .object {
                        next.append((found, value))
                    } else if tokens[value].length == 0 {
                        empty.append(found)
                    } else if tokens[value + 1].kind == .object {
                        lists.append(found)
                    }
                }
            }
            level = next
        }
        return lists.isEmpty ? Array(empty.prefix(Self.mostLists)) : lists
    }
}

/// Gives out names that are unique without regard to case.
struct UniqueNames {
    private var taken: Set<String>
    /// By name: the number to go on with.
    private var numbers: [String: Int] = [:]

    init(_ taken: some Sequence<String> = []) { self.taken = Set(taken.map { $0.lowercased() }) }

    /// A name that no other has: `name`, else `name2`, `name3` …
    mutating func take(_ name: String) -> String {
        let folded = name.lowercased()
        if taken.insert(folded).inserted { return name }
        var number = numbers[folded] ?? 2
        while !taken.insert("\(folded)\(number)").inserted { number += 1 }
        numbers[folded] = number + 1
        return "\(name)\(number)"
    }
}

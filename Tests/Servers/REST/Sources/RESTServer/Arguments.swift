/// The arguments of the command line: `--port N`, where 0 selects a free port.
struct Arguments {
    /// The port to listen on.
    let port: Int

    /// The error for wrong arguments, with the usage.
    struct Misused: Error {
        let usage = "usage: RESTServer --port N"
    }

    /// Parses the arguments after the name of the program.
    init(_ words: [String]) throws(Misused) {
        guard words.count == 2, words[0] == "--port", let port = Int(words[1]), (0...65_535).contains(port) else {
            throw Misused()
        }
        self.port = port
    }
}

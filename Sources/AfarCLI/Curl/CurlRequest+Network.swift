import Afar
import AfarCore
import ArgumentParser
import Foundation

extension CurlRequest {
    // MARK: - Credentials

    mutating func translateCredentials() {
        if let token = value("oauth2-bearer"), !hasHeader("Authorization") {
            if token.hasPrefix("@") { add("-H", "Authorization: Bearer \(token)") } else { add("--bearer", token) }
        }
        let schemes = ["basic", "digest", "ntlm", "negotiate"].filter { flag($0) } + (flag("ntlm-wb") ? ["ntlm"] : [])
        if let user = value("user"), user != ":" || schemes != ["negotiate"] {
            // As in curl, the header has precedence.
            if !hasHeader("Authorization") {
                if !user.contains(":") {
                    ignore("\(written("user")): the password comes from the environment variable AFAR_PASSWORD")
                }
                add("-u", user)
                // Without --basic or another scheme, curl sends the password with the first request.
                if !flag("anyauth"), schemes.count <= 1 { add("--auth", schemes.first ?? "basic") }
            }
        } else if schemes == ["negotiate"] {
            add("--auth", "negotiate")
        } else if let netrc = last("netrc", "netrc-optional", "netrc-file") {
            if let file = value("netrc-file") { add("--netrc-file", file) } else { add("--netrc") }
            if netrc.option.name == "netrc-optional" {
                ignore("--netrc-optional: the file is required")
            }
        }
    }

    mutating func translateCookies() {
        let cookies = values("cookie").filter { !$0.isEmpty }
        let files = cookies.filter { !$0.contains("=") }
        for text in cookies where text.contains("=") { add("-b", text) }
        guard let jar = value("cookie-jar") else {
            for file in files { add("-b", file) }
            return
        }
        if jar == "-" {
            refuse("\(written("cookie-jar")) -: cookies are saved in a file. Use -v to see the Set-Cookie headers")
        } else if files.isEmpty || files == [jar] {
            add("-c", jar)
        } else {
            refuse("-b \(files[0]) and -c \(jar): afar reads and writes one file. Copy it first")
        }
    }

    // MARK: - Connections

    mutating func translateNetwork() {
        if let item = items.last(where: { ["http1.1", "http2", "http3", "http3-only"].contains($0.option.name) }) {
            add("--http", item.option.name == "http1.1" ? "1.1" : item.option.name == "http2" ? "2" : "3")
        } else if items.contains(where: { $0.option.name == "alpn" && !$0.isOn }) {
            add("--http", "1.1")
        }
        if !flag("location") {
            add("--no-follow")
        } else if let limit = value("max-redirs") {
            add("--max-redirects", limit == "-1" ? "1000" : limit)
        }
        if let proxy = last("proxy", "socks5", "socks5-hostname") { translate(proxy: proxy) }
        if let proxy = value("proxy"), flag("proxytunnel"), !urls.allSatisfy({ $0.lowercased().hasPrefix("https://") })
        {
            refuse("\(written("proxytunnel")): only https requests use a tunnel through \(URLText.host(of: proxy))")
        }
        pass("unix-socket", as: "--unix-socket")
        for place in values("connect-to") { add("--connect-to", place) }
        for entry in values("resolve") { translate(resolve: entry) }
        if let interface = value("interface") {
            let name = interface.replacing(/^(if|host|ifhost)!/, with: "")
            if interface.hasPrefix("ifhost!") {
                refuse("--interface \(interface): choose the interface or the address")
            }
            add("--interface", name)
        }
        if let family = last("ipv4", "ipv6") { add(family.option.name == "ipv4" ? "-4" : "-6") }
        pass("keepalive-time", as: "--keepalive-time")
        pass("doh-url", as: "--doh-url")
        pass("limit-rate", as: "--limit-rate")
        for (name, option) in [("max-time", "-m"), ("connect-timeout", "--connect-timeout")] {
            pass(name, as: option)
        }
        if let count = value("retry") {
            add("--retry", count)
            if let delay = value("retry-delay"), Double(delay) != 0 { add("--retry-delay", delay) }
            if flag("retry-all-errors") {
                add("--retry-all")
            } else if items.contains(where: { ["data", "form", "json"].contains($0.option.name) })
                || value("request") == "POST"
            {
                ignore("--retry: POST and PATCH aren't sent again, because they can have an effect twice")
            }
        }
    }

    private mutating func translate(proxy item: CurlArguments.Item) {
        var proxy = item.value ?? ""
        guard !proxy.isEmpty else { return add("--proxy", "none") }
        if item.option.name != "proxy" {
            proxy = (item.option.name == "socks5" ? "socks5://" : "socks5h://") + proxy
        } else if !proxy.contains("://") {
            proxy = "http://\(proxy)"
        }
        let scheme = proxy.prefix { $0 != ":" }.lowercased()
        guard ["http", "https", "socks5", "socks5h"].contains(scheme) else {
            return refuse("\(item.name): the scheme \(scheme) isn't supported. Use http, https, socks5 or socks5h")
        }
        var authority = String(proxy.dropFirst(scheme.count + 3).prefix { $0 != "/" })
        if authority.firstMatch(of: /:\d+$/) == nil { authority += scheme == "https" ? ":443" : ":1080" }
        if let user = value("proxy-user") {
            let parts = user.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map {
                Self.escaped($0.utf8)
            }
            authority = "\(parts.joined(separator: ":"))@\(authority.split(separator: "@").last ?? "")"
        }
        add("-x", "\(scheme)://\(authority)")
    }

    /// Translates `--resolve [+]host:port:address[,address]...`.
    private mutating func translate(resolve entry: String) {
        // Names aren't kept between commands.
        guard !entry.hasPrefix("-") else { return }
        let text = entry.hasPrefix("+") ? entry.dropFirst() : entry[...]
        guard let match = text.wholeMatch(of: /(\[[^\]]*\]|[^:]*):(\d+):(.+)/) else {
            return refuse("--resolve \(entry): write it as example.com:443:192.0.2.1")
        }
        let addresses = match.output.3.split(separator: ",")
        guard let address = addresses.first else { return }
        if addresses.count > 1 { ignore("--resolve \(entry): only the first address is used") }
        let host = match.output.1 == "*" ? "" : match.output.1
        let isBare = address.contains(":") && !address.hasPrefix("[")
        add("--connect-to", "\(host):\(match.output.2):\(isBare ? "[\(address)]" : String(address)):\(match.output.2)")
    }

    // MARK: - TLS

    mutating func translateSecurity() {
        if flag("insecure") { add("-k") }
        pass("cacert", as: "--cacert")
        if let cert = value("cert") {
            let path = certificatePath(cert)
            if path != cert {
                refuse(
                    "\(written("cert")): write the password to a file, and use --cert \(path) --passphrase-file FILE")
            }
            add("--cert", path)
            let type = value("cert-type")?.uppercased() ?? "PEM"
            let isArchive = ["p12", "pfx"].contains(URL(filePath: path).pathExtension.lowercased())
            if type == "ENG" || (type == "P12") != isArchive {
                refuse("--cert-type \(type): PKCS#12 files must end in .p12 or .pfx, and other files must not")
            }
        }
        pass("key", as: "--key")
        if let type = value("key-type"), type.uppercased() == "ENG" { refuse("--key-type ENG: keys must be in files") }
        for pins in values("pinnedpubkey") {
            guard pins.hasPrefix("sha256//") else {
                refuse("--pinnedpubkey \(pins): afar trust prints pins, which begin with sha256//")
                continue
            }
            for pin in pins.split(separator: ";") { add("--pin", String(pin)) }
        }
        if flag("tlsv1.3") { add("--tls-min", "1.3") }
    }

    /// Returns the path of a certificate without the password. As in curl, a backslash escapes a colon.
    private func certificatePath(_ text: String) -> String {
        var path = ""
        var rest = text[...]
        while let next = rest.popFirst() {
            if next == "\\", let escaped = rest.first, escaped == ":" || escaped == "\\" {
                path.append(escaped)
                rest.removeFirst()
            } else if next == ":" {
                return path
            } else {
                path.append(next)
            }
        }
        return path
    }

    // MARK: - Output

    mutating func translateOutput() {
        for (name, option) in [
            ("verbose", "-v"), ("silent", "-s"), ("show-error", "-S"), ("fail", "-f"),
            ("fail-with-body", "--fail-with-body"),
        ] where flag(name) { add(option) }
        if let file = value("dump-header") {
            if file != "-" {
                refuse("\(written("dump-header")) \(file): -i prints the headers, and --har FILE saves them")
            }
        }
        if items.contains(where: { $0.option.name == "buffer" && !$0.isOn }) {
            if outputs.isEmpty, value("retry") == nil {
                add("--stream")
            } else {
                ignore("\(written("buffer")): the output is a file, or a retry would print it twice")
            }
        }
        if let format = value("write-out") {
            do {
                if !format.hasPrefix("@") { _ = try WriteOut(format) }
                add("-w", format)
            } catch {
                let reason = (error as? ValidationError)?.message ?? ""
                refuse("\(written("write-out")): \(reason.trimmingCharacters(in: ["."]))")
            }
        }
        if flag("remote-header-name") {
            refuse("\(written("remote-header-name")): afar download uses the server's file name")
        }
        if flag("create-dirs"), value("output-dir") != nil || values("output").contains(where: { $0.contains("/") }) {
            refuse("--create-dirs: folders aren't created. Use mkdir -p")
        }
        if outputs.count > urls.count { ignore("\(written("output")): there are more files than URLs") }
    }

    private var outputs: [CurlArguments.Item] {
        items.filter { ["output", "remote-name"].contains($0.option.name) && $0.isOn }
    }

    /// Returns the options for what is printed and for the file that receives the response from a URL.
    ///
    /// curl writes the headers of `-i` and `-I` to the file, while `afar` prints them.
    mutating func output(forURLAt index: Int, url: String) -> [String] {
        let file = file(forURLAt: index, url: url)
        if value("dump-header") == "-" { return ["-i"] + file }
        let isIncluded = flag("include")
        guard isIncluded || flag("head"), !file.isEmpty else { return (isIncluded ? ["-i"] : []) + file }
        guard file != ["-o", "/dev/null"] else { return flag("head") ? file + ["--body"] : file }
        let name = isIncluded ? written("include") : written("head")
        ignore("\(name) with a file for the body: the headers are printed, and the file doesn't contain them")
        return (isIncluded ? ["-i"] : []) + file
    }

    private func file(forURLAt index: Int, url: String) -> [String] {
        let folder = value("output-dir")
        let isNamed = outputs.indices.contains(index) && outputs[index].option.name == "output"
        if isNamed, let file = outputs[index].value {
            return file == "-" ? [] : ["-o", folder.map { "\($0)/\(file)" } ?? file]
        }
        guard outputs.indices.contains(index) || flag("remote-name-all") else { return [] }
        guard let folder else { return ["-O"] }
        return ["-o", "\(folder)/\(FileName.suggested(contentDisposition: nil, url: url))"]
    }
}

// An HTTP/2 server that uses Go's net/http. The path determines the response.
//
//	http2-server PORT CERTIFICATE KEY FOLDER
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
)

// number returns a number from the query.
func number(request *http.Request, name string) int {
	value, err := strconv.Atoi(request.URL.Query().Get(name))
	if err != nil {
		return 0
	}
	return value
}

// echo sends each part of the body as soon as it has arrived, and then the trailer fields that the request declared.
func echo(writer http.ResponseWriter, request *http.Request) {
	buffer := make([]byte, 64*1024)
	for {
		count, err := request.Body.Read(buffer)
		writer.Write(buffer[:count])
		writer.(http.Flusher).Flush()
		if err == io.EOF {
			for name, values := range request.Trailer {
				writer.Header()[http.TrailerPrefix+name] = values
			}
			return
		} else if err != nil {
			panic(http.ErrAbortHandler)
		}
	}
}

// trailers sends one declared and one undeclared trailer field.
func trailers(writer http.ResponseWriter, request *http.Request) {
	writer.Header().Set("Trailer", "X-Sum")
	io.WriteString(writer, strings.Repeat("a", number(request, "size")))
	writer.Header().Set("X-Sum", "7")
	writer.Header().Set(http.TrailerPrefix+"X-Late", "8")
}

func hints(writer http.ResponseWriter, request *http.Request) {
	for index := 0; index < number(request, "count"); index++ {
		writer.Header().Set("Link", fmt.Sprintf("</%d>; rel=preload", index))
		writer.WriteHeader(http.StatusEarlyHints)
	}
	writer.Header().Del("Link")
	io.WriteString(writer, "ok")
}

// part responds after a part of the request's body.
func part(writer http.ResponseWriter, request *http.Request) {
	if _, err := io.CopyN(io.Discard, request.Body, int64(number(request, "size"))); err != nil {
		panic(http.ErrAbortHandler)
	}
	writer.WriteHeader(http.StatusRequestEntityTooLarge)
	io.WriteString(writer, "enough")
}

// abort ends the stream without completing the response.
func abort(writer http.ResponseWriter, request *http.Request) {
	if length := request.URL.Query().Get("length"); length != "" {
		writer.Header().Set("Content-Length", length)
	}
	if size := number(request, "size"); size > 0 {
		io.WriteString(writer, strings.Repeat("a", size))
		writer.(http.Flusher).Flush()
	}
	panic(http.ErrAbortHandler)
}

// pieces sends each byte of the body in its own frame.
func pieces(writer http.ResponseWriter, request *http.Request) {
	for index := 0; index < number(request, "count"); index++ {
		writer.Write([]byte{byte(index)})
		writer.(http.Flusher).Flush()
	}
}

// last sends GOAWAY after the response.
func last(writer http.ResponseWriter, request *http.Request) {
	writer.Header().Set("Connection", "close")
	io.WriteString(writer, "last")
}

func status(writer http.ResponseWriter, request *http.Request) {
	writer.WriteHeader(number(request, "code"))
}

func main() {
	for path, handler := range map[string]http.HandlerFunc{
		"/echo": echo, "/trailers": trailers, "/hints": hints, "/part": part, "/abort": abort, "/pieces": pieces,
		"/last": last, "/status": status,
	} {
		http.HandleFunc(path, handler)
	}
	http.Handle("/", http.FileServer(http.Dir(os.Args[4])))
	log.Fatal(http.ListenAndServeTLS("127.0.0.1:"+os.Args[1], os.Args[2], os.Args[3], nil))
}

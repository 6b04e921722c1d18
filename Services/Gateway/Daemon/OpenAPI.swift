/// The description of the HTTP interface, in OpenAPI 3.0.
enum OpenAPI {
    static let document = #"""
        {
          "openapi": "3.0.3",
          "info": {
            "title": "TouchSync",
            "version": "1",
            "description": "Reads rooms and their histories and creates elements. Everything else goes over Socket.IO on /socket.io/. HEAD is answered like GET, without the body. Pages of the origins that the gateway allows may send all of these requests (CORS). A request that addresses the gateway by a name that it does not have gets 421."
          },
          "security": [{}, {"token": []}],
          "paths": {
            "/api/rooms/{roomId}": {
              "get": {
                "operationId": "readRoom",
                "summary": "The present state of a room",
                "parameters": [{"$ref": "#/components/parameters/roomId"}],
                "responses": {
                  "200": {
                    "description": "The room",
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Room"}}}
                  },
                  "default": {"$ref": "#/components/responses/Refused"}
                }
              }
            },
            "/api/rooms/{roomId}/elements": {
              "post": {
                "operationId": "createElements",
                "summary": "Creates an element, or several: all or none",
                "parameters": [
                  {"$ref": "#/components/parameters/roomId"},
                  {
                    "name": "Idempotency-Key",
                    "in": "header",
                    "description": "A repetition with the same key gets the first result again.",
                    "schema": {"type": "string", "minLength": 1, "maxLength": 255}
                  },
                  {
                    "name": "traceparent",
                    "in": "header",
                    "description": "The trace of which the request is a part (W3C Trace Context): with the flag sampled its way is logged. It is no part of what is created; a malformed one is ignored.",
                    "schema": {"type": "string"}
                  }
                ],
                "requestBody": {
                  "required": true,
                  "content": {"application/json": {"schema": {"oneOf": [
                    {"$ref": "#/components/schemas/NewElement"}, {"$ref": "#/components/schemas/NewElements"}
                  ]}}}
                },
                "responses": {
                  "201": {
                    "description": "Created",
                    "content": {"application/json": {"schema": {"oneOf": [
                      {"$ref": "#/components/schemas/Created"}, {"$ref": "#/components/schemas/CreatedSeveral"}
                    ]}}}
                  },
                  "default": {"$ref": "#/components/responses/Refused"}
                }
              }
            },
            "/api/rooms/{roomId}/history": {
              "get": {
                "operationId": "readHistory",
                "summary": "Who changed what, when, from what to what: a page of the room's commits in their order",
                "parameters": [
                  {"$ref": "#/components/parameters/roomId"},
                  {
                    "name": "after",
                    "in": "query",
                    "description": "The seq behind which the page begins. Where the log does not reach back so far, it begins with the oldest entry that is kept.",
                    "schema": {"type": "integer", "minimum": 0, "default": 0}
                  },
                  {
                    "name": "limit",
                    "in": "query",
                    "description": "The most entries; a page of large entries has fewer, so that it stays within 1 MiB.",
                    "schema": {"type": "integer", "minimum": 1, "maximum": 200, "default": 50}
                  }
                ],
                "responses": {
                  "200": {
                    "description": "The page",
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/History"}}}
                  },
                  "default": {"$ref": "#/components/responses/Refused"}
                }
              }
            },
            "/api/openapi.json": {
              "get": {
                "operationId": "readDescription",
                "summary": "This document",
                "responses": {
                  "200": {"description": "OpenAPI 3.0", "content": {"application/json": {"schema": {"type": "object"}}}}
                }
              }
            }
          },
          "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
            "parameters": {
              "roomId": {
                "name": "roomId",
                "in": "path",
                "required": true,
                "schema": {"type": "string", "pattern": "^[A-Za-z0-9_.:-]{1,64}$"}
              }
            },
            "responses": {
              "Refused": {
                "description": "400 invalid, 401 token, 403 forbidden (no right, or the page's origin is not allowed), 404 not_found, 409 conflict, 410 gone, 413 too_large, 429 rate_limited, 503 busy or unavailable",
                "headers": {
                  "Retry-After": {
                    "description": "With 429, and with 503 when it is known: seconds after which to try again, retryAfterMs rounded up",
                    "schema": {"type": "integer", "minimum": 1}
                  }
                },
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}}
              }
            },
            "schemas": {
              "Room": {
                "type": "object",
                "required": ["roomId", "epoch", "seq", "elements"],
                "properties": {
                  "roomId": {"type": "string"},
                  "epoch": {"type": "string"},
                  "seq": {"type": "integer"},
                  "elements": {"type": "array", "items": {"$ref": "#/components/schemas/Element"}}
                }
              },
              "Element": {
                "type": "object",
                "required": ["id", "type", "positionX", "positionY", "width", "height", "rotation", "scaleX", "scaleY"],
                "properties": \#(Self.properties(isNew: false)),
                "additionalProperties": true
              },
              "NewElement": {
                "type": "object",
                "required": ["type"],
                "properties": \#(Self.properties(isNew: true)),
                "additionalProperties": true
              },
              "Bounds": {
                "type": "object",
                "required": ["x", "y", "width", "height"],
                "description": "px, in which the position stays",
                "properties": {
                  "x": {"type": "number"},
                  "y": {"type": "number"},
                  "width": {"type": "number", "minimum": 0},
                  "height": {"type": "number", "minimum": 0}
                }
              },
              "Constraints": {
                "type": "object",
                "description": "What holds an element when it is moved, rotated and scaled",
                "properties": {
                  "axis": {"type": "string", "enum": ["x", "y"], "description": "It moves along this one only"},
                  "rotation": {
                    "type": "object",
                    "required": ["min", "max"],
                    "description": "Degrees modulo 360; max - min is 0 to 360",
                    "properties": {
                      "min": {"type": "number", "minimum": -360, "maximum": 360},
                      "max": {"type": "number", "minimum": -360, "maximum": 360}
                    }
                  },
                  "scale": {
                    "type": "object",
                    "required": ["min", "max"],
                    "description": "Magnitudes; the range of the type wins",
                    "properties": {
                      "min": {"type": "number", "minimum": 0, "exclusiveMinimum": true},
                      "max": {"type": "number", "minimum": 0, "exclusiveMinimum": true}
                    }
                  },
                  "grid": {
                    "type": "object",
                    "description": "Steps and offsets of the lines to which it snaps, in the unit of its position",
                    "properties": {
                      "x": {"type": "number", "minimum": 0, "exclusiveMinimum": true},
                      "y": {"type": "number", "minimum": 0, "exclusiveMinimum": true},
                      "offsetX": {"type": "number"},
                      "offsetY": {"type": "number"}
                    }
                  }
                }
              },
              "Motion": {
                "type": "object",
                "description": "How the eye gets to where the element is: a track for each field that moves",
                "properties": \#(Self.animated("#/components/schemas/Track")),
                "additionalProperties": false
              },
              "Track": {
                "type": "object",
                "required": ["startedAt", "segments"],
                "properties": {
                  "startedAt": {"type": "number", "description": "ms since 1970 by the server's clock"},
                  "segments": {
                    "type": "array",
                    "minItems": 1,
                    "items": {
                      "type": "object",
                      "required": ["from", "to", "ms", "curve"],
                      "properties": {
                        "from": {"type": "number"},
                        "to": {"type": "number"},
                        "ms": {"type": "number"},
                        "curve": {"anyOf": [
                          {"$ref": "#/components/schemas/Easing"},
                          {"type": "object", "properties": {"spring": {"type": "object"}, "decay": {"type": "object"}}}
                        ]}
                      }
                    }
                  }
                }
              },
              "NewAnimation": {
                "type": "object",
                "description": "Keyframes; it starts when the element is created",
                "required": ["ms", "tracks"],
                "properties": \#(Self.animation(isNew: true))
              },
              "Animation": {
                "type": "object",
                "required": ["ms", "iterations", "direction", "delayMs", "composite", "tracks", "startedAt"],
                "properties": \#(Self.animation(isNew: false))
              },
              "Keyframes": {
                "type": "array",
                "minItems": 1,
                "maxItems": 64,
                "description": "By `at`, which never falls",
                "items": {
                  "type": "object",
                  "required": ["at", "value"],
                  "properties": {
                    "at": {"type": "number", "minimum": 0, "maximum": 1},
                    "value": {"type": "number", "minimum": -1e9, "maximum": 1e9},
                    "curve": {"$ref": "#/components/schemas/Easing"}
                  }
                }
              },
              "Easing": {
                "description": "As in CSS: to the next keyframe, or to the end of the segment",
                "anyOf": [
                  {"type": "string", "enum": ["linear", "ease", "ease-in", "ease-out", "ease-in-out"]},
                  {
                    "type": "object",
                    "required": ["bezier"],
                    "properties": {
                      "bezier": {
                        "type": "array", "minItems": 4, "maxItems": 4,
                        "items": {"type": "number", "minimum": 0, "maximum": 1},
                        "description": "x1, y1, x2, y2; y may be from -10 to 10"
                      }
                    }
                  },
                  {
                    "type": "object",
                    "required": ["steps"],
                    "properties": {
                      "steps": {"type": "integer", "minimum": 1, "maximum": 1000},
                      "jump": {"type": "string", "enum": ["start", "end", "none", "both"]}
                    }
                  },
                  {
                    "type": "object",
                    "required": ["points"],
                    "properties": {
                      "points": {
                        "type": "array", "minItems": 2, "maxItems": 32,
                        "items": {"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "number"}},
                        "description": "[time, value]: the first time is 0, the last 1"
                      }
                    }
                  }
                ]
              },
              "NewElements": {
                "type": "object",
                "required": ["elements"],
                "properties": {
                  "elements": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": 500,
                    "items": {"$ref": "#/components/schemas/NewElement"}
                  }
                }
              },
              "Created": {
                "type": "object",
                "required": ["ok", "seq", "element", "adjusted"],
                "properties": {
                  "ok": {"type": "boolean"},
                  "seq": {"type": "integer"},
                  "element": {"$ref": "#/components/schemas/Element"},
                  "adjusted": {"type": "array", "items": {"$ref": "#/components/schemas/Adjustment"}},
                  "duplicate": {"type": "boolean"}
                }
              },
              "CreatedSeveral": {
                "type": "object",
                "required": ["ok", "seq", "elements", "adjusted"],
                "properties": {
                  "ok": {"type": "boolean"},
                  "seq": {"type": "integer"},
                  "elements": {"type": "array", "items": {"$ref": "#/components/schemas/Element"}},
                  "adjusted": {"type": "array", "items": {"$ref": "#/components/schemas/Adjustment"}},
                  "duplicate": {"type": "boolean"}
                }
              },
              "Adjustment": {
                "type": "object",
                "description": "A value that a rule changed",
                "required": ["field", "sent", "stored", "why"],
                "properties": {
                  "elementId": {"type": "string", "description": "Only where several elements were created"},
                  "field": {"type": "string"},
                  "sent": {"type": "number"},
                  "stored": {"type": "number"},
                  "why": {"type": "string", "enum": ["range", "aspect", "rotation", "size", "snap", "constraint", "bounds", "integer", "computed"]}
                }
              },
              "History": {
                "type": "object",
                "required": ["entries", "next", "oldest"],
                "properties": {
                  "entries": {"type": "array", "items": {"$ref": "#/components/schemas/HistoryEntry"}},
                  "next": {"type": "integer", "nullable": true, "description": "The `after` of the next page; null on the last one"},
                  "oldest": {"type": "integer", "nullable": true, "description": "The seq of the first entry that is kept; null when none is"}
                }
              },
              "HistoryEntry": {
                "type": "object",
                "required": ["seq", "at", "event", "userId", "sid", "changes"],
                "properties": {
                  "seq": {"type": "integer"},
                  "at": {"type": "string", "format": "date-time", "description": "UTC, with milliseconds"},
                  "event": {"type": "string", "description": "As members received it, such as element:transformed"},
                  "userId": {"type": "string"},
                  "sid": {"type": "string"},
                  "n": {"type": "integer", "description": "Absent where the app gave none"},
                  "cause": {"type": "string", "enum": ["undo", "redo"], "description": "Absent unless it was one"},
                  "changes": {
                    "type": "array",
                    "items": {
                      "type": "object",
                      "required": ["elementId", "before", "after"],
                      "properties": {
                        "elementId": {"type": "string"},
                        "before": {"nullable": true, "allOf": [{"$ref": "#/components/schemas/Element"}]},
                        "after": {"nullable": true, "allOf": [{"$ref": "#/components/schemas/Element"}]}
                      }
                    }
                  }
                }
              },
              "Refusal": {
                "type": "object",
                "required": ["ok", "error"],
                "properties": {
                  "ok": {"type": "boolean"},
                  "error": {
                    "type": "object",
                    "required": ["code", "message"],
                    "properties": {
                      "code": {"type": "string"},
                      "message": {"type": "string"},
                      "field": {"type": "string"},
                      "retryAfterMs": {"type": "integer"}
                    }
                  }
                }
              }
            }
          }
        }
        """#
}
